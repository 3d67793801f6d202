"""What continuous dbt builds next, from models and a clock."""

from __future__ import annotations

from datetime import timedelta

import pytest

from ingest.serve.build_queue import BuildBatch, BuildQueue, Outcome
from ingest.serve.models import Model, Models

# orders → stg → events → (daily, report); trucks → positions → map
PARENTS = {
    "stg": {"orders"},
    "events": {"stg"},
    "daily": {"events"},
    "report": {"daily"},
    "positions": {"trucks"},
    "map": {"positions"},
}


class Clock:
    """Seconds that pass when the test says so."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def models(*chosen: str, live: tuple[str, ...] = (), **paces: int) -> Models:
    """Some of the models; `live` ones, and least seconds between two builds of others."""
    children: dict[str, set[str]] = {}
    for name, parents in PARENTS.items():
        for parent in parents:
            children.setdefault(parent, set()).add(name)
    return Models(
        {
            name: Model(
                id=name,
                name=name,
                is_live=name in live,
                pace=timedelta(seconds=paces.get(name, 0)),
            )
            for name in chosen or PARENTS
        },
        children,
    )


def built(backlog: BuildQueue, **outcomes: Outcome) -> set[str]:
    """What the next pass takes; all of it is built, except as said."""
    chosen = backlog.next() or BuildBatch(frozenset(), False)
    now = backlog.clock()
    backlog.ended(now, {one: outcomes.get(one, Outcome.BUILT) for one in chosen.models})
    return set(chosen.models)


@pytest.fixture
def clock() -> Clock:
    """A clock that stands."""
    return Clock()


def test_first_build_is_complete_then_downstream_of_grown_streams(clock: Clock) -> None:
    backlog = BuildQueue(models(), clock)
    assert built(backlog) == set(PARENTS)
    assert backlog.next() is None
    backlog.grew(["trucks"])
    assert built(backlog) == {"positions", "map"}
    assert backlog.next() is None


def test_unfinished_build_of_another_process_is_built(clock: Clock) -> None:
    backlog = BuildQueue(models("events", "daily"), clock)
    built(backlog)
    backlog.grew(["daily"])
    backlog.abandoned({"daily", "report"})
    assert built(backlog) == {"daily"}


def test_a_model_that_is_not_chosen_is_not_built_but_passed_through(clock: Clock) -> None:
    backlog = BuildQueue(models("events", "report"), clock)
    built(backlog)
    backlog.grew(["orders"])
    assert built(backlog) == {"events", "report"}


def test_live_models_and_what_they_are_built_from_go_first(clock: Clock) -> None:
    backlog = BuildQueue(models(live=("events",)), clock)
    assert built(backlog) == {"stg", "events"}
    backlog.grew(["orders"])
    assert backlog.is_live_waiting()
    assert built(backlog) == {"daily", "report", "positions", "map"}, "others have their turn"
    assert built(backlog) == {"stg", "events"}


def test_what_was_built_before_its_live_parent_is_built_once_more(clock: Clock) -> None:
    backlog = BuildQueue(models("events", "daily", live=("events",)), clock)
    live = backlog.next()
    assert live is not None
    backlog.grew(["orders"])
    backlog.ended(clock(), {"events": Outcome.BUILT})
    assert built(backlog) == {"daily"}, "in its turn, with what there is"
    assert built(backlog) == {"events"}
    assert built(backlog) == {"daily"}
    assert backlog.next() is None


def test_a_failing_model_stops_what_is_below_it_and_is_tried_again(clock: Clock) -> None:
    backlog = BuildQueue(models(), clock)
    left = {"daily": Outcome.FAILED, "report": Outcome.LEFT}
    assert built(backlog, **left) == set(PARENTS)
    backlog.grew(["orders", "trucks"])
    assert built(backlog) == {"stg", "events", "positions", "map"}
    clock.now += 1.9
    assert backlog.next() is None
    clock.now += 0.2
    assert built(backlog, **left) == {"daily", "report"}
    clock.now += 3.9
    assert backlog.next() is None, "the second time it waits for twice as long"
    clock.now += 0.2
    assert built(backlog) == {"daily", "report"}
    assert backlog.next() is None


def test_build_interval_of_a_model_does_not_delay_downstream_models(clock: Clock) -> None:
    backlog = BuildQueue(models(daily=60), clock)
    built(backlog)
    backlog.grew(["orders"])
    assert built(backlog) == {"stg", "events", "report"}
    clock.now += 60.1
    assert built(backlog) == {"daily"}
    assert built(backlog) == {"report"}


def test_what_another_builds_waits_with_all_below_it(clock: Clock) -> None:
    backlog = BuildQueue(models(), clock)
    chosen = backlog.next(taken={"events"})
    assert chosen is not None
    assert chosen.models == {"stg", "positions", "map"}
    rest = backlog.next()
    assert rest is not None
    assert rest.models == {"events", "daily", "report"}


def test_what_grows_while_it_is_built_is_built_again(clock: Clock) -> None:
    backlog = BuildQueue(models(), clock)
    chosen = backlog.next()
    assert chosen is not None
    backlog.grew(["trucks"])
    backlog.ended(clock(), dict.fromkeys(chosen.models, Outcome.BUILT))
    assert built(backlog) == {"positions", "map"}


def test_models_that_a_pass_did_not_come_to_have_the_next_one(clock: Clock) -> None:
    backlog = BuildQueue(models(), clock)
    late = {"map", "report"}
    built(backlog, **dict.fromkeys(late, Outcome.LEFT))
    backlog.grew(["orders", "trucks"])
    assert built(backlog) == late
    assert built(backlog) == set(PARENTS) - late
    assert built(backlog) == late
