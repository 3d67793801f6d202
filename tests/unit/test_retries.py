"""A stream whose broker is away is tried again, ever less often."""

from __future__ import annotations

import time

import pytest

from ingest.declarations.stream import Format, KafkaSource, Stream
from ingest.run.retries import Retries

STREAM = Stream(
    unique_id="source.headwater.shop.orders",
    name="shop.orders",
    table="shop__orders",
    declared_in="shop.yml",
    description="",
    source=KafkaSource(topics=("orders",)),
    format=Format.JSON,
)


def test_each_wait_is_longer_and_one_that_ran_well_begins_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 1000.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    retries = Retries()
    assert (retries.are_waiting, retries.due()) == (False, [])
    for seconds in (1, 2, 4, 8, 16, 32, 60, 60):
        assert retries.later(STREAM) == seconds
        assert (retries.are_waiting, retries.due()) == (True, [])
        now += seconds
        assert retries.due() == [STREAM]
        assert not retries.are_waiting
    now += 301
    assert retries.later(STREAM) == 1
