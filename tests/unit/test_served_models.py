"""What stands below what, out of a manifest; and how each model is shown."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dbt_headwater import shortened
from ingest.errors import DeclarationInvalid
from ingest.serve.build_queue import Built, Outcome
from ingest.serve.dbt_build import first_line
from ingest.serve.model_states import ModelStates, model_states
from ingest.serve.models import Model, models_of, sources_of
from ingest.storage.layout import Lake

JAVA = (
    "Runtime Error in model a (a.sql)\n  An error occurred while calling o97.sql.\n"
    "  : org.apache.X: [WRITE] no\n\tat x\n  Caused by: org.apache.Y: [RAISED] why\n\tat y"
)


def node(name: str, *parents: str, tags: tuple[str, ...] = (), after: Any = None) -> Any:
    """A model of a manifest."""
    return SimpleNamespace(
        unique_id=name,
        name=name,
        resource_type="model",
        depends_on_nodes=list(parents),
        tags=list(tags),
        config=SimpleNamespace(freshness=after and SimpleNamespace(build_after=after)),
        original_file_path=f"models/{name}.yml",
    )


def build_after(count: int, period: str, updates_on: str = "any") -> Any:
    """dbt's `freshness.build_after`."""
    value = SimpleNamespace
    return value(count=count, period=value(value=period), updates_on=value(value=updates_on))


def manifest(*nodes: Any, sources: tuple[Any, ...] = ()) -> Any:
    """As much of dbt's manifest as is read."""
    test = SimpleNamespace(unique_id="a test", resource_type="test", depends_on_nodes=["daily"])
    return SimpleNamespace(
        nodes={one.unique_id: one for one in (*nodes, test)},
        sources={one.unique_id: one for one in sources},
    )


def test_live_models_bring_what_they_are_built_from() -> None:
    project = manifest(
        node("stg", "orders"),
        node("events", "stg", tags=("live", "shop")),
        node("daily", "events", after=build_after(10, "minute")),
    )
    models = models_of(project, {"stg", "events", "daily"})
    assert models.live() == {"stg", "events"}
    assert models.chosen["daily"].pace == timedelta(minutes=10)
    assert models.below(["orders"]) == {"stg", "events", "daily"}


def test_a_pace_that_cannot_be_kept_is_refused_with_its_file() -> None:
    project = manifest(node("daily", "events", after=build_after(1, "hour", "all")))
    with pytest.raises(DeclarationInvalid, match=r"models/daily\.yml: daily: .*updates_on"):
        models_of(project, {"daily"})


def test_stream_writes_quarantine_and_current_rows() -> None:
    tables = ("shop__orders", "shop__orders__quarantine", "shop__orders__current")
    sources = tuple(
        SimpleNamespace(unique_id=f"{schema}.{name}", schema=schema, identifier=name)
        for name, schema in [(name, "bronze") for name in (*tables, "web__x")]
        + [("shop__orders", "lost")]
    )
    stream: Any = SimpleNamespace(name="shop.orders", tables=tables)
    found = sources_of(manifest(sources=sources), [stream])
    assert found == {"shop.orders": {f"bronze.{name}" for name in tables}}


def test_a_failure_is_news_once_and_gone_when_the_model_is_built(tmp_path: Path) -> None:
    lake = Lake(str(tmp_path))
    assert model_states(lake) == []
    models = [Model(id="m.daily", name="daily", is_live=True), Model(id="m.map", name="map")]
    states = ModelStates(lake, models)
    failed = Built(outcome=Outcome.FAILED, error="no")
    assert states.is_news("daily", failed)
    states.save({"daily": failed, "map": Built(outcome=Outcome.LEFT)})
    again = ModelStates(lake, models)
    assert not again.is_news("daily", failed)
    daily, other = model_states(lake)
    assert (daily.state, daily.error, daily.live) == ("failed", "no", True)
    assert (other.state, other.built_at, other.live) == ("never built", None, False)
    again.save({"daily": Built(outcome=Outcome.BUILT, seconds=1.234)})
    daily, _ = model_states(lake)
    assert (daily.state, daily.error, daily.seconds) == ("built", None, 1.23)


@pytest.mark.parametrize(
    ("said", "line"),
    [
        ("Database Error in model daily (models/daily.sql)\n  [X] no\n  more", "[X] no"),
        ("Runtime Error\n  Database Error\n    gone", "gone"),
        ("Compilation Error in model a (a.sql)", "Compilation Error in model a (a.sql)"),
        (ValueError(), "ValueError"),
        (JAVA, "[RAISED] why"),
    ],
)
def test_dbt_message_is_shortened_to_the_error_line(said: object, line: str) -> None:
    assert first_line(said) == line


def test_thrift_errors_have_no_java() -> None:
    said = (
        "org.apache.hive.service.cli.HiveSQLException: Error running query: [NO] "
        "org.apache.spark.SparkException: [NO] it is wrong\nline 2\n\tat org.apache.X.y(X:1)\n"
        "\tat org.apache.Z\nCaused by: java.lang.Error: [NO] it is wrong\n\t... 29 more"
    )
    assert shortened(said) == "[NO] it is wrong\nline 2"


def test_lost_conflict_is_one_line_with_remedy() -> None:
    said = (
        "org.apache.hive.service.cli.HiveSQLException: Error running query: "
        "[DELTA_CONCURRENT_APPEND.WITHOUT_HINT] io.delta.exceptions.ConcurrentAppendException: "
        "[DELTA_CONCURRENT_APPEND.WITHOUT_HINT] Transaction conflict detected.\nMore.\n\tat x"
    )
    assert shortened(said) == (
        "[DELTA_CONCURRENT_APPEND.WITHOUT_HINT] Transaction conflict detected. Another build "
        "wrote the table at the same time: run again."
    )
