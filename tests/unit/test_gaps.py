"""What is said of a gap until it is repaired."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ingest.cli import status
from ingest.errors import ConnectorFailed, DataLost, GapFound
from ingest.runtime.progress import read_totals, save_totals
from ingest.serve import gaps
from ingest.serve.build_queue import Built, Outcome
from ingest.serve.model_states import ModelStates
from ingest.serve.models import Model
from ingest.storage.json_files import write_json
from ingest.storage.layout import Lake
from tests.spark.workshop import node
from tests.unit.test_served_models import manifest
from tests.unit.test_served_models import node as model


def source(name: str) -> Any:
    """A stream in a manifest, of a database's table."""
    entry = node(name, {"from": "postgres", "key": ["id"]})
    return SimpleNamespace(**entry, to_dict=lambda: entry)


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lake:
    """The lake of a project with two streams, which both have landed."""
    sources = (source("shop.orders"), source("shop.users"))
    project = manifest(
        model("stg", sources[0].unique_id),
        model("orders", "stg"),
        model("users", sources[1].unique_id),
        model("sales", "orders", "users"),
        sources=sources,
    )
    monkeypatch.setattr(gaps, "parsed", lambda: project)
    monkeypatch.setenv("HEADWATER_LAKE", str(tmp_path))
    lake = Lake(str(tmp_path))
    for name in ("orders", "users"):
        save_totals(lake, read_totals(lake, f"shop.{name}", f"shop__{name}"))
    states = ModelStates(lake, [Model(id=one, name=one) for one in ("orders", "sales", "users")])
    built = Built(outcome=Outcome.BUILT)
    failed = Built(outcome=Outcome.FAILED, error="no")
    states.save({"orders": built, "sales": failed, "users": built})
    return lake


BEFORE = [("built", None), ("failed", "no"), ("built", None)]


def shown(capsys: pytest.CaptureFixture[str]) -> list[tuple[str, str | None]]:
    """State and error of each model, as `ingest status --models` shows them."""
    status(models=True, json=True)
    return [(one["state"], one["error"]) for one in json.loads(capsys.readouterr().out)]


@pytest.mark.parametrize("code", [GapFound.code, DataLost.code])
def test_models_below_a_gap_are_not_complete(
    lake: Lake, code: str, capsys: pytest.CaptureFixture[str]
) -> None:
    totals = read_totals(lake, "shop.orders", "shop__orders")
    save_totals(lake, replace(totals, state="failed", error="gone", code=code))
    told = "behind a gap of shop.orders"
    assert shown(capsys) == [("incomplete", told), ("failed", f"{told}; no"), ("built", None)]
    save_totals(lake, totals)
    assert shown(capsys) == BEFORE


def test_states_of_type_groups_are_no_streams(
    lake: Lake, capsys: pytest.CaptureFixture[str]
) -> None:
    write_json(lake.storage, lake.progress("shop__orders__groups.json"), [{"group": "all"}])
    assert shown(capsys) == BEFORE


def test_models_below_a_stream_that_failed_without_a_gap_are_as_they_are(
    lake: Lake, capsys: pytest.CaptureFixture[str]
) -> None:
    totals = read_totals(lake, "shop.orders", "shop__orders")
    save_totals(lake, replace(totals, state="failed", error="x", code=ConnectorFailed.code))
    assert shown(capsys) == BEFORE
