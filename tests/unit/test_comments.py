"""Which columns get a comment from the schemas of Avro that they come with."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from ingest.declarations.reading import read_stream
from ingest.schemas.column_comments import Comments
from ingest.schemas.stream_schema import AvroSchemas
from tests.spark.workshop import node


def schema(**docs: str) -> str:
    """A record whose fields say these things of themselves."""
    fields = [{"name": name, "type": "int", "doc": doc} for name, doc in docs.items()]
    return json.dumps({"type": "record", "name": "R", "fields": fields})


@pytest.fixture
def table(tmp_path: Path) -> str:
    """A table with one column."""
    path = str(tmp_path / "table")
    write_deltalake(path, pa.table({"there": [1]}))
    return path


def comments(table: str, envelope: str = "none") -> Comments:
    """Those of a stream of Avro, which declares one column."""
    ingest = {"from": "kafka", "topic": "t", "format": "avro", "envelope": envelope}
    return Comments(table, read_stream(node("test.told", ingest, {"declared": "int"})))


def test_only_columns_that_are_new_and_not_declared_get_a_comment(table: str) -> None:
    agreed = AvroSchemas({7: schema(there="a", declared="b", new="c", left_out="d")})
    found = comments(table).of_new(["there", "declared", "new"], agreed)
    assert found == {"new": "c"}


def test_a_column_is_new_until_the_table_has_it(table: str) -> None:
    agreed, told = AvroSchemas({7: schema(new="c")}), comments(table)
    # A batch may run again.
    assert [told.of_new(["new"], agreed) for _ in range(2)] == [{"new": "c"}] * 2
    write_deltalake(table, pa.table({"new": [1]}), mode="append", schema_mode="merge")
    assert told.of_new(["new"], agreed) == {}


def test_the_reader_has_the_last_word(table: str) -> None:
    agreed = AvroSchemas({7: schema(new="old"), 9: schema(new="newer")}, schema(new="newest"))
    assert comments(table).of_new(["new"], agreed) == {"new": "newest"}


def test_fields_within_an_envelope_are_no_columns(table: str) -> None:
    agreed = AvroSchemas({7: schema(op="what happened")})
    assert comments(table, "cloudevents").of_new(["op"], agreed) == {}
