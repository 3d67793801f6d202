"""Where Kafka is: the company's, or the stack's own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ingest.errors import ServersUnknown
from ingest.lake import Lake
from ingest.stack.addresses import kafka_properties, stack_file


def test_properties_are_the_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "client.properties"
    file.write_text('# ours\nbootstrap.servers = a:9092,b:9092\n\nsasl.jaas.config=x k="v";\n')
    monkeypatch.setenv("HEADWATER_KAFKA_PROPERTIES", str(file))
    assert kafka_properties(Lake(str(tmp_path))) == {
        "bootstrap.servers": "a:9092,b:9092",
        "sasl.jaas.config": 'x k="v";',
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "No such file"),
        ("security.protocol=SSL", "has no bootstrap.servers"),
        ("bootstrap.servers", "'bootstrap.servers' is no key=value"),
    ],
)
def test_a_wrong_file_is_named(
    text: str | None, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "client.properties"
    if text is not None:
        file.write_text(text)
    monkeypatch.setenv("HEADWATER_KAFKA_PROPERTIES", str(file))
    with pytest.raises(ServersUnknown, match=said) as refused:
        kafka_properties(Lake(str(tmp_path)))
    assert str(file) in str(refused.value)


def test_without_a_file_it_is_the_broker_of_the_stack(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HEADWATER_KAFKA_PROPERTIES", raising=False)
    lake = Lake(str(tmp_path))
    with pytest.raises(ServersUnknown, match="ingest stack up"):
        kafka_properties(lake)
    stack_file(lake).parent.mkdir()
    stack_file(lake).write_text(json.dumps({"kafka": {"ports": {"clients": 7, "controller": 8}}}))
    assert kafka_properties(lake) == {"bootstrap.servers": "127.0.0.1:7"}
