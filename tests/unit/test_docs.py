"""Types of events on dbt's docs page: nodes as dbt's own, lineage, and nothing twice."""

from __future__ import annotations

import json
from typing import Any

from dbt.artifacts.resources.v1.source_definition import SourceDefinition
from dbt_common.contracts.metadata import CatalogTable
from pyspark.sql import types as T

from ingest.cli.docs import add_descriptions, add_meanings, add_types, static_page
from ingest.registry.descriptions import descriptions
from tests.unit.test_scaffold import registered

STREAM = "source.headwater.shop.events"
TYPE = "source.headwater.bronze_shop.order_placed"
MODEL = "model.headwater.order_placed_events"
PLACED = registered("order.placed </script>", price=T.DecimalType(12, 2))


def artifacts() -> tuple[dict[str, Any], dict[str, Any]]:
    """What dbt writes of a stream and a model that reads a type of it."""
    declared = {"from": "files", "path": "a", "format": "json", "envelope": "cloudevents"}
    source = {
        "database": None,
        "schema": "bronze",
        "name": "events",
        "resource_type": "source",
        "package_name": "headwater",
        "path": "models/bronze/shop.yml",
        "original_file_path": "models/bronze/shop.yml",
        "unique_id": STREAM,
        "fqn": ["headwater", "bronze", "shop", "events"],
        "source_name": "shop",
        "source_description": "",
        "loader": "",
        "identifier": "shop__events",
        "description": "",
        "columns": {},
        "meta": {"ingest": declared},
        "config": {"enabled": True, "meta": {"ingest": declared}},
        "relation_name": "bronze.shop__events",
    }
    columns = {
        name: {"type": kind, "index": index, "name": name, "comment": None}
        for index, (name, kind) in enumerate({"_batch_id": "bigint", "data": "variant"}.items())
    }
    metadata = {"owner": "me", "name": "shop__events", "schema": "bronze", "type": "table"}
    catalogued = {"metadata": metadata, "columns": columns, "stats": {}, "unique_id": STREAM}
    manifest = {
        "sources": {STREAM: source},
        "nodes": {MODEL: {"compiled_code": "select * from bronze_shop.order_placed"}},
        "parent_map": {STREAM: [], MODEL: [STREAM]},
        "child_map": {STREAM: [MODEL], MODEL: []},
    }
    return manifest, {"sources": {STREAM: catalogued}}


def test_a_type_stands_between_its_stream_and_its_models() -> None:
    manifest, catalog = artifacts()
    add_types(manifest, catalog, [PLACED])
    assert manifest["parent_map"] == {STREAM: [], MODEL: [STREAM, TYPE], TYPE: [STREAM]}
    assert manifest["child_map"] == {STREAM: [MODEL, TYPE], MODEL: [], TYPE: [MODEL]}


def test_a_type_shows_its_columns_version_and_times() -> None:
    manifest, catalog = artifacts()
    add_types(manifest, catalog, [PLACED])
    node = manifest["sources"][TYPE]
    assert node["relation_name"] == "bronze_shop.order_placed"
    assert node["columns"]["price"]["data_type"] == "decimal(12,2)"
    assert node["columns"]["price"]["meta"] == {"attribute": "price"}
    assert "Version 1, first seen 2026-11-01 00:00 UTC, last grown" in node["description"]
    shown = catalog["sources"][TYPE]["columns"]
    assert {name: column["type"] for name, column in shown.items()} == {
        "_batch_id": "bigint",
        "price": "decimal(12,2)",
        "_payload": "variant",
    }


def test_nodes_are_such_as_dbt_reads() -> None:
    manifest, catalog = artifacts()
    add_types(manifest, catalog, [PLACED])
    SourceDefinition.from_dict(manifest["sources"][TYPE])
    CatalogTable.from_dict(catalog["sources"][TYPE])


def test_a_second_time_changes_nothing() -> None:
    manifest, catalog = artifacts()
    add_types(manifest, catalog, [PLACED])
    once = json.dumps([manifest, catalog], sort_keys=True)
    add_types(manifest, catalog, [PLACED])
    assert json.dumps([manifest, catalog], sort_keys=True) == once


def test_a_stream_of_another_project_is_passed_over() -> None:
    manifest, catalog = artifacts()
    manifest["sources"][STREAM]["name"] = "others"
    add_types(manifest, catalog, [PLACED])
    assert set(manifest["sources"]) == {STREAM}


def test_names_from_outside_stay_text_on_the_page() -> None:
    manifest, catalog = artifacts()
    before = static_page(manifest, catalog).count("</script>")
    add_types(manifest, catalog, [PLACED])
    # The page shows words of HTML as they are.
    assert "<" not in manifest["sources"][TYPE]["description"]
    assert static_page(manifest, catalog).count("</script>") == before


def test_columns_of_every_stream_and_type_have_descriptions() -> None:
    manifest, catalog = artifacts()
    own = {"name": "_batch_id", "description": "As the yml says."}
    manifest["sources"][STREAM]["columns"] = {"_batch_id": own}
    add_types(manifest, catalog, [PLACED])
    for _ in range(2):
        add_meanings(manifest, catalog)
    described = {key: one["columns"] for key, one in manifest["sources"].items()}
    assert described[STREAM]["_batch_id"]["description"] == "As the yml says."
    assert described[TYPE]["_batch_id"]["description"].startswith("Number of the commit")
    assert set(described[TYPE]) == {"_batch_id", "price"}


def test_schema_doc_describes_undescribed_columns() -> None:
    manifest, catalog = artifacts()
    source = manifest["sources"][STREAM]
    source["columns"] = {
        name: {"name": name, "description": text}
        for name, text in {"mine": "As the yml says.", "given": "", "buyer.city": ""}.items()
    }
    told = {(): "An <b>order</b>.", ("buyer", "city"): "Where.", ("buyer", "age"): "Years."}
    told |= {(name,): f"Of {name}." for name in ("mine", "given", "data", "gone")}
    for _ in range(2):
        add_descriptions(manifest, catalog, {"shop.events": told, "shop.others": told})
    assert {name: one["description"] for name, one in source["columns"].items()} == {
        "mine": "As the yml says.",
        "given": "Of given.",
        "buyer.city": "Where.",
        "data": "Of data.",
    }
    assert source["description"] == "An &#60;b&#62;order&#60;&#47;b&#62;."


def test_newest_schema_doc_wins() -> None:
    city = {"name": "city", "type": "string", "doc": " Where. "}
    buyer = {"type": "record", "name": "Buyer", "doc": "A person.", "fields": [city]}
    fields: list[dict[str, Any]] = [
        {"name": "buyer", "type": ["null", buyer], "doc": "Who pays."},
        {"name": "seller", "type": "Buyer"},
        {"name": "either", "type": ["int", buyer]},
        {"name": "empty", "type": "int", "doc": " "},
    ]
    new = json.dumps({"type": "record", "name": "Order", "doc": "An order.", "fields": fields})
    old = json.dumps(
        {
            "type": "record",
            "name": "Order",
            "fields": [{"name": "empty", "type": "int", "doc": "x"}],
        }
    )
    assert descriptions([old, "no schema", '"int"', new]) == {
        (): "An order.",
        ("buyer",): "Who pays.",
        ("buyer", "city"): "Where.",
        ("seller", "city"): "Where.",
        ("empty",): "x",
    }


def test_a_schema_that_holds_itself_is_described_so_far() -> None:
    field = {"name": "next", "type": ["null", "Node"], "doc": "The next one."}
    told = descriptions([json.dumps({"type": "record", "name": "Node", "fields": [field]})])
    assert set(told.values()) == {"The next one."}
    assert ("next",) in told
