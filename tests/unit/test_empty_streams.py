"""What the catalog shows of a stream before its first record, as `ingest` will make it."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jinja2
import pytest

from ingest.declarations.envelope_defaults import with_envelope_hints, with_identity, with_source
from ingest.declarations.stream import Envelope, SourceKind

MACROS = {
    "empty_stream_columns": "catalog",
    "envelope_types": "events",
    "event_payload": "events",
    "nested_types": "catalog",
}


class Returned(Exception):
    """What a macro answers, as in dbt."""


def _return(value: Any) -> None:
    raise Returned(value)


def asked(name: str, *arguments: Any) -> Any:
    """What a macro answers."""
    environment = jinja2.Environment(extensions=["jinja2.ext.do"], autoescape=True)
    others = {other: partial(asked, other) for other in MACROS}
    text = Path("macros", MACROS[name], f"{name}.sql").read_text("utf-8")
    template = environment.from_string(text, {**others, "return": _return})
    try:
        getattr(template.make_module(), name)(*arguments)
    except Returned as answer:
        return answer.args[0]
    raise AssertionError(f"{name} answers nothing")


def stream(declared: dict[str, Any], **columns: str | None) -> Any:
    """A source of dbt with this declaration; columns are described, with a type or without."""
    told = {name: SimpleNamespace(name=name, data_type=kind) for name, kind in columns.items()}
    config = SimpleNamespace(meta=SimpleNamespace(ingest=declared))
    return SimpleNamespace(config=config, columns=told)


def envelope_types(declared: dict[str, Any]) -> dict[str, str]:
    """What the macro answers for a stream with this declaration."""
    answer: dict[str, str] = asked("envelope_types", stream(declared))
    return answer


ENVELOPES = pytest.mark.parametrize(
    "declared",
    [
        *({"from": one.value, "format": "json"} for one in SourceKind),
        *({"from": "kafka", "format": "json", "envelope": one.value} for one in Envelope),
    ],
    ids=lambda declared: declared.get("envelope", declared["from"]),
)


@ENVELOPES
def test_a_stream_shows_its_envelope_before_its_first_record(declared: dict[str, Any]) -> None:
    envelope = Envelope(with_source(declared).get("envelope", "none"))
    hints = with_envelope_hints((), envelope)
    wanted = {hint.path[0]: hint.type.simpleString() for hint in hints if hint.type}
    assert envelope_types(declared) == wanted


@ENVELOPES
def test_a_stream_is_split_by_event_type_if_its_envelope_has_a_payload(
    declared: dict[str, Any],
) -> None:
    given = with_identity(with_source(declared))
    wanted = given.get("payload") if "event_type" in given else None
    assert asked("event_payload", stream(declared)) == wanted


def test_outbox_shows_envelope_and_event_type() -> None:
    declared = {"from": "postgres", "event_type": "kind", "event_id": ["id"], "key": ["id"]}
    assert envelope_types(declared) == {**envelope_types({"from": "postgres"}), "id": "string"}


def test_a_column_of_an_envelope_keeps_its_type_unless_another_is_declared() -> None:
    described = stream({"from": "postgres"}, source_lsn=None, OP="binary", order_id=None)
    types = asked("empty_stream_columns", described)
    there = {name: kind for name, kind in types.items() if not name.startswith("_")}
    assert there == {
        "source_lsn": "bigint",
        "OP": "binary",
        "order_id": "string",
        "source_ts_ms": "bigint",
        "transaction_order": "bigint",
    }
