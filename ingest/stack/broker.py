"""A Kafka broker that is its own controller (KRaft)."""

from __future__ import annotations

import base64
import subprocess
import uuid
from collections.abc import Sequence
from pathlib import Path

from ingest.errors import StackFailed
from ingest.stack.part import JavaPart, ServiceHome

# One node: what is replicated elsewhere is here once. Topics are made by who asks for them.
_PROPERTIES = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{clients},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{clients}
controller.listener.names=CONTROLLER
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
log.dirs={data}
offsets.topic.num.partitions=1
offsets.topic.replication.factor=1
transaction.state.log.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
message.max.bytes=10485760
replica.fetch.max.bytes=10485760
"""


def new_cluster_id() -> str:
    """A random id of 16 bytes as Kafka writes it, which no command line takes for an option."""
    while True:
        cluster = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        # One in 64 begins with a dash. Kafka's own `Uuid.randomUuid` draws again, too.
        if not cluster.startswith("-"):
            return cluster


class Broker(JavaPart):
    """See Part."""

    @property
    def name(self) -> str:
        """See Part."""
        return "kafka"

    @property
    def listens(self) -> Sequence[str]:
        """See Part."""
        return ("clients", "controller")

    def prepare(self, place: ServiceHome) -> None:
        """See Part: the log is formatted once."""
        data, properties = place.folder / "data", self._properties(place)
        properties.write_text(_PROPERTIES.format(data=data, **place.ports), "utf-8")
        if (data / "meta.properties").exists():
            return
        identity = ("-t", new_cluster_id(), "-c", str(properties))
        formatting = ("kafka.tools.StorageTool", "format", *identity)
        done = subprocess.run(
            [*self._java, *formatting], capture_output=True, text=True, check=False
        )
        if done.returncode:
            said = (done.stderr or done.stdout).strip().splitlines()
            raise StackFailed(f"kafka: {data} cannot be formatted: {said[-1] if said else ''}")

    def command(self, place: ServiceHome) -> Sequence[str]:
        """See Part."""
        return (*self._java, "-Xmx400m", "kafka.Kafka", str(self._properties(place)))

    def is_healthy(self, place: ServiceHome) -> bool:
        """See Part: it lists its topics."""
        from confluent_kafka import KafkaException
        from confluent_kafka.admin import AdminClient

        servers = f"127.0.0.1:{place.ports['clients']}"
        # What the library would log is that nobody listens yet.
        client = AdminClient({"bootstrap.servers": servers, "log_level": 0})
        try:
            client.list_topics(timeout=2)
        except KafkaException:
            return False
        return True

    def _properties(self, place: ServiceHome) -> Path:
        return place.folder / "server.properties"
