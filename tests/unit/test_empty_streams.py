"""What the catalog shows of a stream before its first record, as `ingest` will make it."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jinja2
import pytest

from ingest.declarations.envelopes import with_envelope_hints, with_source
from ingest.declarations.stream import Envelope

MACRO = Path("macros", "events", "envelope_types.sql")


def envelope_types(declared: dict[str, Any]) -> dict[str, str]:
    """What the macro answers for a stream with this declaration."""
    answers: list[dict[str, str]] = []
    environment = jinja2.Environment(extensions=["jinja2.ext.do"], autoescape=True)
    template = environment.from_string(MACRO.read_text("utf-8"), {"return": answers.append})
    stream = SimpleNamespace(config=SimpleNamespace(meta=SimpleNamespace(ingest=declared)))
    macro: Any = template.make_module()
    macro.envelope_types(stream)
    return answers[0]


@pytest.mark.parametrize(
    "declared",
    [
        {"from": "postgres"},
        {"from": "kafka", "format": "avro", "envelope": "debezium"},
        {"from": "files", "format": "csv", "envelope": "dms"},
        {"from": "kafka", "format": "json", "envelope": "cloudevents"},
    ],
    ids=lambda declared: declared.get("envelope", declared["from"]),
)
def test_a_stream_shows_its_envelope_before_its_first_record(declared: dict[str, Any]) -> None:
    envelope = Envelope(with_source(declared)["envelope"])
    hints = with_envelope_hints((), envelope)
    wanted = {hint.path[0]: hint.type.simpleString() for hint in hints if hint.type}
    assert envelope_types(declared) == wanted


def test_an_outbox_shows_its_envelope_and_what_tells_events_apart() -> None:
    declared = {"from": "postgres", "event_type": "kind", "event_id": ["id"], "key": ["id"]}
    assert envelope_types(declared) == {**envelope_types({"from": "postgres"}), "id": "string"}
