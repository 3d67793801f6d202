"""Models that are written for a type of event: their names, columns and words."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import jinja2
import pytest
import yaml
from pyspark.sql import types as T

from ingest.cli.models import in_jinja, in_sql, in_words
from ingest.cli.scaffold import texts, written
from ingest.declarations.reading import read_stream
from ingest.declarations.stream import Stream
from ingest.errors import TypeUnknown
from ingest.event_types.ops_table import Registered, chosen
from ingest.schemas.ingest_columns import INGEST

NOW = datetime(2026, 11, 1, tzinfo=UTC)


def registered(name: str, /, **columns: T.DataType) -> Registered:
    """A type with columns of the attributes' names."""
    fields = [
        T.StructField(column, kind, metadata={"attribute": column, "json_type": ""})
        for column, kind in columns.items()
    ]
    return Registered(
        stream="shop.events",
        event_type=name,
        table_schema="bronze_shop",
        table_name="order_placed",
        bronze_table="bronze.shop__events",
        per_type="views",
        event_group="default",
        version=1,
        schema=T.StructType(fields).json(),
        rescued=[],
        pending=None,
        is_pinned=False,
        variations=[],
        events=1,
        last_seen=NOW,
        counted_batch_id=0,
        first_seen=NOW,
        last_grown=NOW,
        changed_at=NOW,
        query="",
        table_columns=None,
        filled_batch_id=-1,
        filled_version=0,
        layout="",
        filled_layout=None,
    )


def stream(**ingest: Any) -> Stream:
    """A declared stream `shop.events`."""
    declared = {"from": "files", "path": "a", "format": "json", **ingest}
    return read_stream(
        {
            "unique_id": "source.headwater.shop.events",
            "original_file_path": "models/bronze/shop.yml",
            "source_name": "shop",
            "name": "events",
            "identifier": "shop__events",
            "schema": "bronze",
            "config": {"meta": {"ingest": declared}},
            "columns": {},
        }
    )


CLOUDEVENTS = stream(envelope="cloudevents")
PLAIN = stream(event_type="jsonPayload.event_type", payload="jsonPayload", event_id=["insertId"])
BRONZE = T.StructType(
    [
        *INGEST.fields,
        *(T.StructField(name, T.StringType()) for name in ("specversion", "id", "source", "type")),
        T.StructField("time", T.TimestampType()),
        T.StructField("data", T.VariantType()),
    ]
)


def files(one: Registered, of: Stream = CLOUDEVENTS, bronze: T.StructType = BRONZE) -> list[str]:
    """The staging model, the table and the yml."""
    return list(texts(one, of, bronze, "order_placed").values())


def test_models_are_named_by_their_layer() -> None:
    paths = list(texts(registered("order.placed"), CLOUDEVENTS, BRONZE, "order_placed"))
    assert paths == [
        "models/silver/shop/stg_shop__order_placed.sql",
        "models/silver/shop/order_placed_events.sql",
        "models/silver/shop/_order_placed__models.yml",
    ]


def test_event_type_is_read_as_declared() -> None:
    staging, events, described = files(registered("order.placed", price=T.DoubleType()))
    assert "        id as event_id,\n        source as event_source,\n" in staging
    assert "unique_key = ['event_id', 'event_source']" in events
    table = yaml.safe_load(described)["models"][1]
    assert table["data_tests"][0]["unique_together"]["arguments"]["columns"] == [
        "event_id",
        "event_source",
    ]
    bronze = T.StructType([*INGEST.fields, T.StructField("insertId", T.StringType())])
    one = registered("order.placed", price=T.DoubleType(), event_type=T.StringType())
    staging, events, described = files(one, PLAIN, bronze)
    assert "insertId as event_id" in staging
    assert "unique_key = 'event_id'" in events
    assert yaml.safe_load(described)["models"][1]["columns"][0]["data_tests"] == [
        "not_null",
        "unique",
    ]


def test_an_attribute_keeps_its_name_also_where_we_would_take_it() -> None:
    one = registered("a", event_type=T.StringType(), event_id=T.LongType())
    staging = files(one)[0]
    assert "        id,\n" in staging
    assert "        _event_type,\n" in staging
    assert "        event_type" in staging
    assert "        event_id" in staging


def test_events_without_id_are_refused() -> None:
    with pytest.raises(TypeUnknown, match="declare a key or event_id"):
        files(registered("a"), stream(event_type="kind", payload="data"))


def test_every_column_is_declared_with_its_type() -> None:
    one = registered("a", price=T.DecimalType(12, 2), items=T.ArrayType(T.StringType()))
    staging, events, described = files(one)
    for model in yaml.safe_load(described)["models"]:
        types = {column["name"]: column["data_type"] for column in model["columns"]}
        assert types["price"] == "decimal(12,2)"
        assert types["items"] == "array<string>"
        assert types["_batch_id"] == "bigint"
        assert all(column["description"] for column in model["columns"])
        assert model["description"].endswith("event.")
    for name in types:
        assert f"        {name}" in events
    assert staging.count("\n        ---------- ") == 5


def test_names_are_quoted_where_they_must_be() -> None:
    names = ["price", "insertId", "order", "naïve", "timestamp"]
    assert [in_sql(name) for name in names] == [
        "price",
        "insertId",
        "`order`",
        "`naïve`",
        "timestamp",
    ]
    described = files(registered("a", naïve=T.StringType()))[2]
    columns = yaml.safe_load(described)["models"][0]["columns"]
    assert [column["name"] for column in columns if column.get("quote")] == ["naïve"]


@pytest.mark.parametrize("name", ["it's", 'a\\b"', "{{ x }}", "{# x #}", "a\nb", "naïve 漢"])
def test_a_type_may_be_called_anything(name: str) -> None:
    environment = jinja2.Environment(autoescape=False)  # noqa: S701
    assert environment.from_string("{{ " + in_jinja(name) + " }}").render() == name
    described = in_words(name)
    assert environment.from_string(described).render() == described
    assert "\n" not in described
    staging, _, text = files(registered(name))
    assert f"events_of('shop', {in_jinja(name)})" in staging
    assert yaml.safe_load(text)["models"][0]["name"] == "stg_shop__order_placed"


def test_a_file_that_exists_is_left_alone(tmp_path: Path) -> None:
    assert written(tmp_path, {"a/b.sql": "new"}) == [("a/b.sql", True)]
    (tmp_path / "a" / "b.sql").write_text("mine", encoding="utf-8")
    assert written(tmp_path, {"a/b.sql": "new", "a/c.sql": "new"}) == [
        ("a/b.sql", False),
        ("a/c.sql", True),
    ]
    assert (tmp_path / "a" / "b.sql").read_text(encoding="utf-8") == "mine"


def test_a_type_that_has_not_come_ends_in_a_line_that_names_the_nearest() -> None:
    known = [registered("order.placed"), registered("order.paid")]
    with pytest.raises(TypeUnknown, match=r"'order.place'.* nearest: order.placed, order.paid"):
        chosen(known, "order.place", None)
    assert chosen(known, "order.paid", None) is known[1]


def test_a_type_of_several_streams_needs_one() -> None:
    known = [registered("a"), replace(registered("a"), stream="shop.others")]
    with pytest.raises(TypeUnknown, match=r"say --stream: shop.events, shop.others"):
        chosen(known, "a", None)
    assert chosen(known, "a", "shop.others") is known[1]
