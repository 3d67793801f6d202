"""Kafka Connect with Debezium; it stores its connectors in the broker."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ingest.stack.service import JavaService, ServiceHome, answers

_PROPERTIES = """\
bootstrap.servers=127.0.0.1:{broker}
group.id=connect
listeners=http://127.0.0.1:{clients}
key.converter=org.apache.kafka.connect.json.JsonConverter
value.converter=org.apache.kafka.connect.json.JsonConverter
config.storage.topic=_connect_configs
config.storage.replication.factor=1
offset.storage.topic=_connect_offsets
offset.storage.replication.factor=1
offset.storage.partitions=1
status.storage.topic=_connect_status
status.storage.replication.factor=1
status.storage.partitions=1
offset.flush.interval.ms=1000
plugin.discovery=only_scan
plugin.path={plugins}
producer.max.request.size=10485760
# A change carries its whole schema: by default three of them are a request, one after the other.
producer.batch.size=524288
producer.linger.ms=50
connector.client.config.override.policy=All
"""


class Connect(JavaService):
    """Kafka Connect; `plugins` is a folder of folders, each with the jars of one plugin."""

    def __init__(self, jars: Path, plugins: Path) -> None:
        super().__init__(jars)
        self._plugins = plugins

    @property
    def name(self) -> str:
        return "connect"

    @property
    def listens(self) -> Sequence[str]:
        return ("clients",)

    def prepare(self, home: ServiceHome) -> None:
        broker = home.others["kafka"].ports["clients"]
        text = _PROPERTIES.format(
            broker=broker, clients=home.ports["clients"], plugins=self._plugins
        )
        (home.folder / "connect.properties").write_text(text, "utf-8")

    def command(self, home: ServiceHome) -> Sequence[str]:
        program = "org.apache.kafka.connect.cli.ConnectDistributed"
        return (*self._java, "-Xmx400m", program, f"{home.folder}/connect.properties")

    def is_healthy(self, home: ServiceHome) -> bool:
        """Whether it lists its connectors."""
        return answers(home.ports["clients"], "/connectors")
