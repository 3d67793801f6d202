"""What the command line takes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ingest import cli
from ingest.cli import one_value_each
from ingest.declarations import project
from ingest.declarations.stream import FileSource, Format, Stream
from ingest.runtime.progress import StreamProgress, save_totals
from ingest.storage.layout import Lake
from ingest.storage.locks import stream_lock


@pytest.mark.parametrize(
    ("typed", "taken"),
    [
        ("run --select a b", "run --select a --select b"),
        ("run -s a b --exclude c d", "run -s a -s b --exclude c --exclude d"),
        ("check --select a b --against registry", "check --select a --select b --against registry"),
        ("run --select a --select b", "run --select a --select b"),
        ("run --select", "run --select"),
        ("schema diff TYPE 1 2", "schema diff TYPE 1 2"),
        ("serve --streams a b --sql 1", "serve --streams a --streams b --sql 1"),
    ],
)
def test_one_option_takes_several_selectors_as_in_dbt(typed: str, taken: str) -> None:
    assert one_value_each(typed.split()) == taken.split()


def test_stream_of_ended_process_is_shown_as_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stream = Stream(
        unique_id="source.headwater.shop.orders",
        name="shop.orders",
        table="shop__orders",
        declared_in="shop.yml",
        description="",
        source=FileSource(path="landing"),
        format=Format.JSON,
    )
    lake = Lake(str(tmp_path))
    monkeypatch.setenv("HEADWATER_LAKE", lake.root)
    monkeypatch.setattr(project, "declared_streams", lambda *_: [stream])

    def shown() -> str:
        cli.status(json=True)
        (row,) = json.loads(capsys.readouterr().out)
        return str(row["state"])

    for state, after in (("running", "killed"), ("waiting", "killed"), ("stopped", "stopped")):
        save_totals(lake, StreamProgress(stream=stream.name, table=stream.table, state=state))
        with stream_lock(lake, stream.table, stream.name):
            assert shown() == state
        assert shown() == after
