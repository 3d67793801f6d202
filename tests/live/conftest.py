"""A stack of the tests' own, and a session that reads it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence

import pytest
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._scram import (
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)
from pyspark.sql import SparkSession
from typing_extensions import override

from ingest import settings
from ingest.stack.broker import Broker
from ingest.stack.postgres import address
from ingest.stack.service import ServiceHome
from ingest.stack.stack import Stack
from ingest.storage.json_files import read_json
from ingest.storage.layout import Lake
from tests.live.topics import PASSWORD, Topics
from tests.spark.conftest import spark

__all__ = ["spark"]

# A listener more, which asks for a login. Of lines of one name the last counts.
_LOGINS = """\
listeners=PLAINTEXT://127.0.0.1:{clients},LOGINS://127.0.0.1:{logins},\
CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{clients},LOGINS://127.0.0.1:{logins}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,LOGINS:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT
sasl.enabled.mechanisms=SCRAM-SHA-512
listener.name.logins.scram-sha-512.sasl.jaas.config=\
org.apache.kafka.common.security.scram.ScramLoginModule required;
"""


class BrokerWithLogins(Broker):
    """The stack's broker, which some clients have to log in to."""

    @property
    @override
    def listens(self) -> Sequence[str]:
        return (*super().listens, "logins")

    @override
    def prepare(self, home: ServiceHome) -> None:
        super().prepare(home)
        with (home.folder / "server.properties").open("a", encoding="utf-8") as properties:
            properties.write(_LOGINS.format(**home.ports))


@pytest.fixture(scope="package")
def topics(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Topics]:
    """A lake, and the broker that stands in it."""
    root = tmp_path_factory.mktemp("live")
    lake = Lake(str(root / "lake"))
    stack = Stack(lake)
    broker = BrokerWithLogins(settings.project_dir() / ".jars-stack")
    stack.services = {**stack.services, broker.name: broker}
    try:
        stack.up(lambda _: None)
        login(stack.address("kafka"))
        known = read_json(lake.storage, lake.stack())
        assert known
        yield Topics(
            spark,
            root,
            address=stack.address("kafka"),
            logins=f"127.0.0.1:{known['kafka']['ports']['logins']}",
            database=address(int(stack.address("postgres").partition(":")[2])),
            stack=stack,
        )
    finally:
        stack.down(lambda _: None)
        for service in stack.status():
            # Some keep their data elsewhere, where another user can reach them.
            shutil.rmtree(service.folder, ignore_errors=True)


def login(servers: str) -> None:
    """Have the broker know the user of the reference."""
    known = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, 4096)
    user = UserScramCredentialUpsertion("headwater", known, PASSWORD.encode())
    admin = AdminClient({"bootstrap.servers": servers})
    for made in admin.alter_user_scram_credentials([user]).values():
        made.result(30)
