"""Values that nobody may see."""

from __future__ import annotations

import hashlib
import hmac
import json
from typing import Any

import pytest

from ingest.declarations.reading import read_stream
from ingest.declarations.stream import Mask
from ingest.envelopes.masking import Masking
from ingest.envelopes.message_reader import Reading
from ingest.errors import DeclarationInvalid
from tests.spark.workshop import node

KEY = b"secret"


def hashed(text: str) -> str:
    """What stands for a text."""
    return hmac.new(KEY, text.encode(), hashlib.sha256).hexdigest()


@pytest.mark.parametrize(
    ("path", "mask", "record", "masked"),
    [
        (("email",), Mask.HASH, {"id": 1, "email": "a@b"}, {"id": 1, "email": hashed("a@b")}),
        (("email",), Mask.HASH, {"EMail": "a@b"}, {"EMail": hashed("a@b")}),
        (("email",), Mask.HASH, {"email": None}, {"email": None}),
        (("email",), Mask.HASH, {"email": {"a": 1}}, {"email": hashed('{"a":1}')}),
        (("phone",), Mask.HASH, {"phone": 1.50}, {"phone": hashed("1.5")}),
        (
            ("a", "b"),
            Mask.REDACT,
            {"a": [{"b": 1}, {"c": 2}]},
            {"a": [{"b": "[redacted]"}, {"c": 2}]},
        ),
        (("a", "b"), Mask.DROP, {"a": {"b": 1, "c": 2}}, {"a": {"c": 2}}),
        # JSON in a text, for one: the value may be in it.
        (("a", "b"), Mask.DROP, {"a": '{"b": 1}', "c": 2}, {"c": 2}),
        (("a", "b"), Mask.REDACT, {"a": ["text", None]}, {"a": ["[redacted]", None]}),
    ],
)
def test_a_value_is_replaced_wherever_it_stands(
    path: tuple[str, ...], mask: Mask, record: dict[str, Any], masked: dict[str, Any]
) -> None:
    reading = Reading(masking=Masking({path: mask}, KEY))
    text, _ = reading.read(json.dumps(record).encode(), None)
    assert json.loads(text) == masked


def declared(mask: Any, kind: str = "string", **ingest: Any) -> Any:
    """A stream with a masked column."""
    told = {"from": "kafka", "topic": "t", "format": "json", **ingest}
    entry = node("test.masked", told, {"email": kind})
    entry["columns"]["email"]["config"] = {"meta": {"mask": mask}}
    return read_stream(entry)


def test_a_dropped_column_is_no_column() -> None:
    stream = declared("drop")
    assert stream.masks == {("email",): Mask.DROP}
    assert [hint.path for hint in stream.columns] == []


def test_a_masked_column_of_a_database_goes_with_a_mode_of_its_schemas() -> None:
    stream = declared("redact", format="avro", envelope="debezium", avro={"compatibility": "full"})
    assert stream.masks == {("email",): Mask.REDACT}


@pytest.mark.parametrize(
    ("mask", "kind", "ingest", "said"),
    [
        ("hide", "string", {}, "'hide' is not one of hash, redact, drop"),
        ("hash", "bigint", {}, "goes with a column of data_type string"),
        ("hash", "string", {"format": "bytes"}, "has no meaning with format bytes"),
        (
            *("hash", "string", {"format": "avro", "avro": {"subject": "s"}}),
            r"does not go with avro\.subject: messages are read as they were written",
        ),
        (
            *(
                "hash",
                "string",
                {"envelope": "cloudevents", "on_incompatible_change": "quarantine"},
            ),
            "does not go with on_incompatible_change: quarantine",
        ),
    ],
)
def test_a_mask_that_cannot_be_is_refused(
    mask: str, kind: str, ingest: dict[str, Any], said: str
) -> None:
    with pytest.raises(DeclarationInvalid, match=said):
        declared(mask, kind, **ingest)
