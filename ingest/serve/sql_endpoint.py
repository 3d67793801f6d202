"""The SQL endpoint: Spark's Thrift server on the driver's own tables, for BI tools and dbt.

Whoever reaches it may do all that this process may, so without a login it listens on this
machine only.
"""

from __future__ import annotations

import contextlib
import errno
import ipaddress
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ingest.client_properties import read_properties
from ingest.errors import AddressRefused
from ingest.spark.thrift_server import start_thrift_server

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_AUTHENTICATION = "hive.server2.authentication"
_TRANSPORT, _BINARY = "hive.server2.transport.mode", "binary"
# Who has to log in may come from anywhere. The server's other ways ask nobody (NONE, NOSASL), or
# run classes that we know nothing of.
_LOGINS = ("LDAP", "KERBEROS")


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where the endpoint listens, and the Thrift server's own settings, by its own names."""

    host: str
    port: int
    properties: Mapping[str, str] = field(default_factory=dict)

    def settings(self) -> Mapping[str, str]:
        """Settings that Spark has to be started with: later ones reach no Thrift server."""
        own = {
            "hive.server2.thrift.bind.host": self.host,
            "hive.server2.thrift.port": str(self.port),
        }
        hadoop = {
            f"spark.hadoop.{name}": value for name, value in {**self.properties, **own}.items()
        }
        # Shares of the cores, beside streams and builds.
        return {**hadoop, "spark.sql.thriftserver.scheduler.pool": "sql"}


def address(text: str, properties_file: str | None = None) -> Address:
    """The address that `[HOST:]PORT` says. Raises AddressRefused."""
    host, port = host_and_port("--sql", text)
    properties = _read(properties_file) if properties_file else {}
    if properties.get(_TRANSPORT, _BINARY).lower() != _BINARY:
        # Spark's server of HTTP knows no host: it listens on every address.
        raise AddressRefused(f"HEADWATER_SQL_PROPERTIES: {_TRANSPORT} can only be {_BINARY}")
    login = properties.get(_AUTHENTICATION, "NONE").upper()
    if login not in _LOGINS and not _is_loopback(host):
        raise AddressRefused(
            f"--sql {text}: without a login the endpoint listens on this machine only (127.0.0.1); "
            f"for others set {_AUTHENTICATION}=LDAP or KERBEROS in the file that "
            "HEADWATER_SQL_PROPERTIES names"
        )
    return Address(host=host, port=port, properties=properties)


def host_and_port(option: str, text: str) -> tuple[str, int]:
    """What `[HOST:]PORT` says, as an option has it. Raises AddressRefused."""
    host, _, number = text.rpartition(":")
    host = host.strip("[]") or "127.0.0.1"
    if not number.isdigit() or not 0 < int(number) < 65536:
        raise AddressRefused(
            f"{option} {text}: give a port, or an address and a port: 127.0.0.1:10000"
        )
    return host, int(number)


def check_free(wanted: Address) -> None:
    """Raises AddressRefused where nothing can listen there, before anything is started."""
    family = socket.AF_INET6 if ":" in wanted.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as tried:
        # As the server does: a port that was closed a moment ago is free.
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind((wanted.host, wanted.port))
        except OSError as error:
            raise AddressRefused(
                f"--sql {wanted.host}:{wanted.port}: {error.strerror}; choose another port"
            ) from error


class SqlEndpoint:
    """Spark's Thrift server, from `with` to its end."""

    def __init__(self, spark: SparkSession, at: Address) -> None:
        self._spark, self._at = spark, at
        self._server: Any = None

    def __enter__(self) -> SqlEndpoint:
        """Listen. Raises EndpointFailed."""
        # What asks the directory reads files and these, and nothing of Spark's session.
        login = {
            name: value
            for name, value in self._at.properties.items()
            if name.startswith(f"{_AUTHENTICATION}.")
        }
        self._server = start_thrift_server(self._spark, login)
        return self

    @property
    def is_up(self) -> bool:
        """Whether something listens at its address; a client of its own would leave a log line."""
        try:
            check_free(self._at)
        except AddressRefused as refused:
            return isinstance(refused.__cause__, OSError) and (
                refused.__cause__.errno == errno.EADDRINUSE
            )
        return False

    def __exit__(self, *_: object) -> None:
        from py4j.protocol import Py4JNetworkError

        # It has ended with its Java process, where that was killed.
        with contextlib.suppress(Py4JNetworkError, ConnectionError):
            self._server.stop()


def _is_loopback(host: str) -> bool:
    try:
        found = {entry[4][0] for entry in socket.getaddrinfo(host, None)}
    except OSError as error:
        raise AddressRefused(f"--sql: {host} is no address of this machine") from error
    return all(ipaddress.ip_address(one).is_loopback for one in found)


def _read(path: str) -> Mapping[str, str]:
    name = "HEADWATER_SQL_PROPERTIES"
    found = read_properties(path, name, AddressRefused)
    for key in found:
        if not key.startswith(("hive.", "hadoop.")):
            raise AddressRefused(f"{name}: {path}: {key!r} is no setting of the Thrift server")
    return found
