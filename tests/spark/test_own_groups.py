"""Event groups whose tables a process of its own fills, beside the one that lands the stream."""

from __future__ import annotations

import signal
import subprocess
import threading
from collections.abc import Iterator

import pytest

from ingest.errors import StreamLocked
from ingest.event_types.own_group import OwnGroup
from ingest.runtime.type_table_fill import TypeTableLoader, group_states
from ingest.storage import delta_log
from ingest.storage.locks import group_lock
from tests.spark.test_event_types import events, types_of
from tests.spark.test_processes import errors, project, started
from tests.spark.test_type_tables import COLUMNS, assert_is_its_view, written
from tests.spark.workshop import Workshop
from tests.waiting import wait_until

GROUPS = [
    {"name": "pay", "event_types": ["pay.*"], "process": "own"},
    {"name": "web", "event_types": ["web.*"]},
]
DECLARED = {
    "event_type": "type",
    "payload": "data",
    "per_type": "tables",
    "event_groups": GROUPS,
    "tables_interval": "1 second",
}
TYPES = ["pay.card", "pay.cash", "web.seen"]


def loader_of(workshop: Workshop, name: str) -> TypeTableLoader:
    """What the process of group `pay` fills its tables with."""
    stream = workshop.declared(name)
    types = OwnGroup(workshop.spark, workshop.lake, stream, "pay")
    return TypeTableLoader(workshop.spark, workshop.lake, stream, types, own="pay")


def drop(workshop: Workshop, name: str, number: int) -> None:
    """A file with an event of each type."""
    found = [one for name in TYPES for one in events(name, [{"n": number}], number)]
    workshop.drop(name, f"{number}.jsonl", found)


def test_each_process_fills_its_groups_and_notes_them_beside_the_others(
    workshop: Workshop,
) -> None:
    workshop.stream("parted", COLUMNS, **DECLARED)
    drop(workshop, "parted", 1)
    workshop.land("parted")
    assert workshop.fill("parted") == []
    there = {
        name: one.table_columns is not None for name, one in types_of(workshop, "parted").items()
    }
    assert there == {"pay.card": False, "pay.cash": False, "web.seen": True}

    loader = loader_of(workshop, "parted")
    assert loader.turn(threading.Event()) == []
    assert_is_its_view(workshop, "parted", *TYPES)
    drop(workshop, "parted", 2)
    workshop.land("parted")
    # The landing keeps what the other process has noted, and the other way round.
    filled = {name: one.filled_batch_id for name, one in types_of(workshop, "parted").items()}
    assert filled == dict.fromkeys(TYPES, filled["web.seen"])
    assert loader.turn(threading.Event()) == []
    assert workshop.fill("parted") == []
    assert_is_its_view(workshop, "parted", *TYPES)
    found = types_of(workshop, "parted").values()
    assert {(one.events, one.filled_batch_id) for one in found} == {
        (2, delta_log.newest_batch(workshop.lake.bronze("test__parted")))
    }
    states = group_states(workshop.lake, "test__parted")
    assert [(one.group, one.state, one.types) for one in states] == [
        ("pay", "filled", 2),
        ("web", "filled", 1),
    ]
    commits = delta_log.version(workshop.lake.ops("event_types"))
    assert loader.turn(threading.Event()) == []
    workshop.land("parted")
    assert delta_log.version(workshop.lake.ops("event_types")) == commits


def test_a_group_is_filled_by_one_process(workshop: Workshop) -> None:
    workshop.stream("locked", COLUMNS, **{**DECLARED, "event_groups": [GROUPS[1]]})
    drop(workshop, "locked", 1)
    workshop.land("locked")
    with group_lock(workshop.lake, "test__locked", "test.locked", "web"):
        (error,) = workshop.fill("locked")
    assert isinstance(error, StreamLocked)
    assert "the tables of group web are filled by process" in str(error)
    assert written(workshop, "locked", "pay.card").count() == 1
    assert workshop.fill("locked") == []
    assert_is_its_view(workshop, "locked", *TYPES)


@pytest.fixture
def processes() -> Iterator[list[subprocess.Popen[str]]]:
    """Processes that end with the test at the latest."""
    found: list[subprocess.Popen[str]] = []
    yield found
    for one in found:
        one.kill()
        one.wait()


@pytest.mark.long
def test_of_landing_and_filling_each_goes_on_when_the_other_is_killed(
    workshop: Workshop, processes: list[subprocess.Popen[str]]
) -> None:
    workshop.stream("apart", COLUMNS, **DECLARED)
    project(workshop, "apart", declared=DECLARED, hints=COLUMNS)
    bronze = workshop.lake.bronze("test__apart")

    def begun(*arguments: str) -> subprocess.Popen[str]:
        processes.append(started(workshop, *arguments))
        return processes[-1]

    def landed() -> int:
        there = workshop.lake.is_table(bronze)
        return len(delta_log.rows(bronze, ["_batch_id"])) if there else 0

    def filled_up_to(event_type: str) -> int:
        return types_of(workshop, "apart")[event_type].filled_batch_id

    landing = begun("stream", "--select", "source:test.apart")
    filling = begun("stream", "--group", "test.apart/pay")
    drop(workshop, "apart", 1)
    wait_until(lambda: landed() == len(TYPES))
    wait_until(lambda: filled_up_to("pay.card") == filled_up_to("web.seen") >= 0)
    second = begun("run", "--group", "test.apart/pay")
    (said,) = errors(second)
    refused = "error[LOCKED]: test.apart: the tables of group pay are filled by process"
    assert said.startswith(f"{refused} {filling.pid} on ")
    assert second.returncode == 1

    filling.kill()
    drop(workshop, "apart", 2)
    wait_until(lambda: landed() == 2 * len(TYPES))
    newest = delta_log.newest_batch(bronze)
    wait_until(lambda: filled_up_to("web.seen") == newest)
    assert filled_up_to("pay.card") < newest

    landing.kill()
    filling = begun("stream", "--group", "test.apart/pay")
    wait_until(lambda: filled_up_to("pay.card") == newest)
    assert_is_its_view(workshop, "apart", *TYPES)
    filling.send_signal(signal.SIGTERM)
    assert errors(filling) == []
    assert filling.returncode == 0
