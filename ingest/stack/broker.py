"""A Kafka broker that is its own controller (KRaft)."""

from __future__ import annotations

import base64
import subprocess
import uuid
from collections.abc import Sequence
from pathlib import Path

from ingest.errors import StackFailed
from ingest.stack.service import JavaService, ServiceHome

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
# By size, not by age: what a producer dates years ago would be gone after half a minute.
log.retention.ms=-1
log.retention.bytes=1073741824
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


class Broker(JavaService):
    @property
    def name(self) -> str:
        return "kafka"

    @property
    def listens(self) -> Sequence[str]:
        return ("clients", "controller")

    def prepare(self, home: ServiceHome) -> None:
        """Format the log, once."""
        data, properties = home.folder / "data", self._properties(home)
        properties.write_text(_PROPERTIES.format(data=data, **home.ports), "utf-8")
        if (data / "meta.properties").exists():
            return
        identity = ("-t", new_cluster_id(), "-c", str(properties))
        formatting = ("kafka.tools.StorageTool", "format", *identity)
        done = subprocess.run(
            [*self._java, *formatting], capture_output=True, text=True, check=False
        )
        if done.returncode:
            output = (done.stderr or done.stdout).strip().splitlines()
            raise StackFailed(f"kafka: {data} cannot be formatted: {output[-1] if output else ''}")

    def command(self, home: ServiceHome) -> Sequence[str]:
        return (*self._java, "-Xmx400m", "kafka.Kafka", str(self._properties(home)))

    def is_healthy(self, home: ServiceHome) -> bool:
        """Whether it lists its topics."""
        from confluent_kafka import KafkaException
        from confluent_kafka.admin import AdminClient

        servers = f"127.0.0.1:{home.ports['clients']}"
        # The library would log that nothing listens yet.
        client = AdminClient({"bootstrap.servers": servers, "log_level": 0})
        try:
            client.list_topics(timeout=2)
        except KafkaException:
            return False
        return True

    def _properties(self, home: ServiceHome) -> Path:
        return home.folder / "server.properties"
