"""Where Kafka, Kafka Connect and databases are: the company's, or the stack's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from ingest.client_properties import (
    RestApi,
    avro_converter,
    connect_api,
    database_properties,
    kafka_properties,
    schema_registry_properties,
)
from ingest.errors import ServersUnknown
from ingest.storage.json_files import write_json
from ingest.storage.layout import Lake


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
        ("bootstrap.servers", "line 1 is no key=value"),
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
    write_json(lake.storage, lake.stack(), {"kafka": {"ports": {"clients": 7, "controller": 8}}})
    assert kafka_properties(lake) == {"bootstrap.servers": "127.0.0.1:7"}


def test_database_has_the_properties_with_its_prefix(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "databases.properties"
    bank = "bank.database.hostname=db\nbank.database.user=me\nbank.database.dbname=b\n"
    file.write_text(f"{bank}bank.database.password=a=b\nerp.database.hostname=other\n")
    monkeypatch.setenv("HEADWATER_DATABASES", str(file))
    assert database_properties(Lake(str(tmp_path)), "bank") == {
        "database.hostname": "db",
        "database.port": "5432",
        "database.user": "me",
        "database.dbname": "b",
        "database.password": "a=b",
    }
    with pytest.raises(ServersUnknown, match=r"has no erp\.database\.user"):
        database_properties(Lake(str(tmp_path)), "erp")


def test_the_address_of_connect_may_hold_a_password(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake = Lake(str(tmp_path))
    monkeypatch.setenv("HEADWATER_CONNECT_URL", "https://me:p%40ss@connect.example.com:8083/")
    api = connect_api(lake)
    assert api == RestApi("https://connect.example.com:8083", "Basic bWU6cEBzcw==")
    assert "bWU6" not in repr(api)
    monkeypatch.setenv("HEADWATER_CONNECT_URL", "me:secret@connect:8083")
    with pytest.raises(ServersUnknown, match="is no URL") as refused:
        connect_api(lake)
    assert "secret" not in str(refused.value)


def test_without_more_databases_and_connect_are_those_of_the_stack(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("CONNECT_URL", "DATABASES"):
        monkeypatch.delenv(f"HEADWATER_{name}", raising=False)
    lake = Lake(str(tmp_path))
    for ask in (connect_api, lambda lake: database_properties(lake, "bank")):
        with pytest.raises(ServersUnknown, match="ingest stack up"):
            ask(lake)
    parts = {"postgres": {"ports": {"clients": 7}}, "connect": {"ports": {"clients": 8}}}
    write_json(lake.storage, lake.stack(), parts)
    assert connect_api(lake) == RestApi("http://127.0.0.1:8")
    assert database_properties(lake, "bank")["database.port"] == "7"


def test_the_registry_is_named_in_the_same_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    setting, lake = "HEADWATER_SCHEMA_REGISTRY_PROPERTIES", Lake(str(tmp_path))
    monkeypatch.delenv(setting, raising=False)
    with pytest.raises(ServersUnknown, match=setting):
        schema_registry_properties(lake)
    write_json(lake.storage, lake.stack(), {"registry": {"ports": {"clients": 7}}})
    assert schema_registry_properties(lake) == {"url": "http://127.0.0.1:7/apis/ccompat/v7"}
    file = tmp_path / "registry.properties"
    file.write_text("basic.auth.user.info=a:b\n")
    monkeypatch.setenv(setting, str(file))
    with pytest.raises(ServersUnknown, match="has no url"):
        schema_registry_properties(lake)


def test_converter_config_has_the_registry_login(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = {
        "bearer.auth.credentials.source": "STATIC_TOKEN",
        "bearer.auth.token": "secret",
        "bearer.auth.logical.cluster": "lsrc-1",
    }
    found = {"url": "https://r:8081", "ssl.ca.location": "/ca.pem", "proxy": "http://p", **token}
    file = tmp_path / "registry.properties"
    file.write_text("".join(f"{name}={value}\n" for name, value in found.items()))
    monkeypatch.setenv("HEADWATER_SCHEMA_REGISTRY_PROPERTIES", str(file))
    assert avro_converter(Lake(str(tmp_path))) == {
        "": "io.confluent.connect.avro.AvroConverter",
        "schema.registry.url": "https://r:8081",
        **token,
        "schema.registry.ssl.truststore.type": "PEM",
        "schema.registry.ssl.truststore.location": "/ca.pem",
        "schema.registry.ssl.endpoint.identification.algorithm": "https",
    }
