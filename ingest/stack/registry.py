"""Apicurio's schema registry, with the API that Confluent's clients speak; it keeps schemas and
their ids in PostgreSQL."""

from __future__ import annotations

import shutil
import tarfile
from collections.abc import Sequence
from pathlib import Path

from ingest.errors import InputError
from ingest.stack.postgres import address
from ingest.stack.service import JavaService, ServiceHome, answers

# Where Confluent's API begins, below the registry's own address.
API = "/apis/ccompat/v7"
_DATABASE = "registry"
# It gets few requests: Java's second compiler would cost more than it saves.
_FIRST_COMPILER = "-XX:TieredStopAtLevel=1"


class Registry(JavaService):
    """Apicurio Registry; `packed` is the folder of the archive with its program."""

    def __init__(self, packed: Path) -> None:
        super().__init__(packed)
        self._packed = packed

    @property
    def name(self) -> str:
        return "registry"

    @property
    def listens(self) -> Sequence[str]:
        return ("clients",)

    def prepare(self, home: ServiceHome) -> None:
        """Unpack the program and create its database."""
        import psycopg

        self._unpack()
        (home.folder / "work").mkdir(parents=True, exist_ok=True)
        postgres = address(home.others["postgres"].ports["clients"])
        with psycopg.connect(postgres, autocommit=True) as database:
            wanted = "select 1 from pg_database where datname = %s"
            if not database.execute(wanted, [_DATABASE]).fetchone():
                database.execute(f"create database {_DATABASE}")

    def command(self, home: ServiceHome) -> Sequence[str]:
        postgres = home.others["postgres"].ports["clients"]
        properties = {
            "java.io.tmpdir": f"{home.folder}/work",
            "quarkus.http.host": "127.0.0.1",
            "quarkus.http.port": home.ports["clients"],
            "quarkus.log.level": "WARN",
            "quarkus.http.access-log.enabled": "false",
            "apicurio.storage.kind": "sql",
            "apicurio.storage.sql.kind": "postgresql",
            "apicurio.datasource.url": f"jdbc:postgresql://127.0.0.1:{postgres}/{_DATABASE}",
            "apicurio.datasource.username": "postgres",
            "apicurio.datasource.password": "postgres",
        }
        options = [f"-D{name}={value}" for name, value in properties.items()]
        (program,) = self._unpacked().glob("*-runner.jar")
        return (*self._java[:-2], _FIRST_COMPILER, "-Xmx300m", *options, "-jar", str(program))

    def is_healthy(self, home: ServiceHome) -> bool:
        """Whether it lists its subjects."""
        return answers(home.ports["clients"], f"{API}/subjects")

    def _unpacked(self) -> Path:
        return self._packed / "unpacked"

    def _unpack(self) -> None:
        """Unpack the archive, once for all lakes."""
        archives = list(self._packed.glob("*.tar.gz"))
        if len(archives) != 1:
            raise InputError(f"{self._packed} has no registry; run 'make setup' first")
        named = self._unpacked() / archives[0].name
        if named.exists():
            return
        shutil.rmtree(self._unpacked(), ignore_errors=True)
        with tarfile.open(archives[0]) as archive:
            archive.extractall(self._unpacked(), filter="data")
        # Written last: an unpacking that was killed is repeated.
        named.touch()
