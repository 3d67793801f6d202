"""Messages with attributes in headers, as the JSON of events."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pytest

from ingest.envelopes.cloudevents import CloudEventTranslation
from ingest.parse.json_exact import Refused

ID = ("ce_id", b"1")


@pytest.mark.parametrize(
    ("headers", "value", "event"),
    [
        ([ID, ("ce_source", b'/a"b')], b"[1]", {"id": "1", "source": '/a"b', "data": [1]}),
        ([ID, ("other", b"x")], None, {"id": "1"}),
        ([("CE_Type", None), ID], b"1", {"type": None, "id": "1", "data": 1}),
        # Of two, the later one counts.
        ([ID, ("CE_ID", b"2")], b"1", {"id": "2", "data": 1}),
        (
            [ID, ("content-type", b"a"), ("Content-Type", b"text/x")],
            b"t",
            {"id": "1", "datacontenttype": "text/x", "data": "t"},
        ),
        (
            [("ce_datacontenttype", b"a"), ID, ("content-type", b"text/x")],
            b"t",
            {"id": "1", "datacontenttype": "text/x", "data": "t"},
        ),
        (
            [ID, ("content-type", b"x/y")],
            b"t",
            {"id": "1", "datacontenttype": "x/y", "data_base64": "dA=="},
        ),
        # An event as a whole, whatever its headers say.
        ([ID, ("content-type", b"application/cloudevents+json")], b"{}", {}),
        ([], b'{"id": 3}', {"id": 3}),
        (None, b'{"id": 3}', {"id": 3}),
    ],
)
def test_attributes_are_in_headers(headers: Any, value: bytes | None, event: Any) -> None:
    translation = CloudEventTranslation(None)

    # Its names are known the second time.
    assert [json.loads(translation(value, headers)) for _ in range(2)] == [event, event]


def test_an_attribute_that_is_no_text_is_refused() -> None:
    with pytest.raises(Refused, match="byte 0"):
        CloudEventTranslation(None)(b"{}", [ID, ("ce_type", b"\xff")])


def test_names_of_headers_are_kept_up_to_a_size() -> None:
    translation = CloudEventTranslation(None)
    names = [*(f"a{n}" for n in range(10_000)), "a" * 1_000_000]

    found = [translation(None, [(f"ce_{name}", b"x")]) for name in names]

    assert found == [json.dumps({name: "x"}) for name in names]
    # As it goes to a worker.
    assert len(pickle.dumps(translation)) < 200_000
