"""Every value of every event is in a column of its type's view, as it was sent, or rescued."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import DataFrame
from pyspark.sql import types as T

from ingest.event_types.columns import ATTRIBUTE
from ingest.event_types.event_type import Change
from ingest.runtime import requests
from ingest.runtime.requests import Request
from tests.fuzzing import cases, seed
from tests.spark.payloads import Payloads, differences
from tests.spark.test_event_types import COLUMNS, DECLARED, types_of
from tests.spark.test_type_tables import written
from tests.spark.workshop import Workshop

_DECISIONS = (None, Change.ACCEPTED, Change.PINNED, Change.REVERTED)


def shown_and_rescued(
    workshop: Workshop, stream: str, event_type: str, table: DataFrame
) -> Mapping[int, tuple[Mapping[str, Any], T.StructType, Mapping[str, Any]]]:
    """By the id of an event, its attributes as columns show them, their types, what is rescued."""
    schema = T.StructType.fromJson(json.loads(types_of(workshop, stream)[event_type].schema))
    names = {field.name: field.metadata[ATTRIBUTE] for field in schema.fields}
    kind = T.StructType([T.StructField(names[f.name], f.dataType) for f in schema.fields])
    found = {}
    for row in table.collect():
        values = {attribute: row[name] for name, attribute in names.items()}
        rescued = json.loads(row._rescued or "{}", object_pairs_hook=without_twins)
        found[row.id] = (values, kind, rescued)
    return found


def without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose names are all different."""
    assert len(dict(pairs)) == len(pairs)
    return dict(pairs)


@pytest.mark.parametrize("per_type", ["views", pytest.param("tables", marks=pytest.mark.long)])
def test_each_value_is_shown_as_it_was_sent_or_rescued(workshop: Workshop, per_type: str) -> None:
    name = f"whole_{per_type}"
    draw = random.Random(f"{seed()} {per_type}")
    workshop.stream(name, COLUMNS, **DECLARED, per_type=per_type)
    # A table costs a write each batch.
    most = cases(4 if per_type == "tables" else 8)
    types = {f"t{number}": Payloads(draw) for number in range(most)}
    sent: dict[str, dict[int, Any]] = {one: {} for one in types}
    count = 0
    for batch in range(3):
        lines = []
        for event_type, payloads in types.items():
            for _ in range(draw.randrange(1, 4)):
                count, payload = count + 1, payloads.payload()
                sent[event_type][count] = json.loads(
                    payload, parse_float=Decimal, parse_int=Decimal
                )
                lines.append(f'{{"id": {count}, "type": "{event_type}", "data": {payload}}}')
        workshop.drop(name, f"{batch}.jsonl", "\n".join(lines))
        workshop.land(name)
        if per_type == "tables":
            assert workshop.fill(name) == []
        for number, event_type in enumerate(types):
            change = _DECISIONS[number % len(_DECISIONS)]
            if batch == 1 and change:
                version = 1 if change is Change.REVERTED else None
                request = Request.made(f"test.{name}", event_type, change, version)
                requests.leave(workshop.lake, request)
    assert workshop.rejects(name) == []
    wrong = []
    for event_type, payloads_sent in sent.items():
        table = workshop.type_table(event_type, name)
        if per_type == "tables":
            table = written(workshop, name, event_type)
        found = shown_and_rescued(workshop, name, event_type, table)
        assert found.keys() == payloads_sent.keys()
        for number, payload in payloads_sent.items():
            values, kind, rescued = found[number]
            differ = differences(payload, values, kind, rescued, "data")
            wrong += [f"{event_type}: {number}: {one}" for one in differ]
    assert wrong == []
