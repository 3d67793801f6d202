"""The group that `ingest stream --group` names."""

from __future__ import annotations

import pytest

from ingest.declarations.reading import read_stream
from ingest.declarations.stream import Stream
from ingest.errors import InputError
from ingest.runtime.group_runner import named
from tests.unit.test_declarations import GOOD, node


@pytest.fixture
def streams() -> list[Stream]:
    """A stream with a group for a process of its own, and one that has no groups."""
    groups = [
        {"name": "pay", "event_types": ["pay.*"], "process": "own"},
        {"name": "web", "event_types": ["web.*"]},
    ]
    types = {"event_type": "type", "payload": "data", "per_type": "tables"}
    events = node({**GOOD, **types, "event_groups": groups}, name="events")
    return [read_stream(events), read_stream(node())]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("pay", "write <source>.<stream>/<group>"),
        ("shop.event/pay", "no stream is named 'shop.event'; nearest: shop.events"),
        ("shop.events/pays", "shop.events has no event group 'pays'; nearest: pay"),
        ("shop.events/zzzzzzzz", "there are: pay, web, default"),
        ("shop.events/web", "group web is filled where its stream lands; declare `process: own`"),
    ],
)
def test_a_group_that_cannot_be_meant_is_one_line(
    streams: list[Stream], text: str, said: str
) -> None:
    with pytest.raises(InputError, match=said):
        named(streams, text)


def test_a_group_is_found(streams: list[Stream]) -> None:
    found = named(streams, "shop.events/pay")
    assert (found.stream.name, found.name) == ("shop.events", "pay")
