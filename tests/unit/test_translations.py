"""Messages with attributes in headers, as the JSON of events."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ingest.decode.exact_json import Refused
from ingest.decode.translations import CloudEventTranslation

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


def test_messages_whose_headers_have_ever_other_names_are_read() -> None:
    translation = CloudEventTranslation(None)

    found = [translation(None, [(f"ce_a{n}", b"x")]) for n in range(2_500)]

    assert found == [json.dumps({f"a{n}": "x"}) for n in range(2_500)]
    assert translation(None, [("ce_" + "a" * 2_000, b"x")]) == json.dumps({"a" * 2_000: "x"})
