"""`ingest check --data`: which rows and exposures a change of models changes."""

from __future__ import annotations

import datetime as dt
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.build.lake import Lake
from tests.build.parcels import MODELS, parcel, parcel_project, standalone, write_models
from tests.build.process import ingest

pytestmark = pytest.mark.long

DAY: Final = dt.date(2026, 3, 1)
BOARD: Final = """
    version: 2
    exposures:
      - name: board
        label: Weights of the day
        type: dashboard
        owner: {name: Ana, email: ana@example.org}
        depends_on: [ref('current_daily')]
"""
KEPT: Final = """
    version: 2
    snapshots:
      - name: kept
        relation: ref('parcels_current')
        config: {strategy: check, unique_key: parcel, check_cols: [weight]}
"""


@pytest.fixture
def lake(shared_lake: Lake, tmp_path: Path) -> Iterator[Lake]:
    """A project in git, whose stream has landed."""
    shared_lake.empty()
    names = ("parcels_current", "current_daily", "parcel_events")
    models = {name: MODELS[name] for name in names}
    lake = standalone(parcel_project(shared_lake, tmp_path, models))
    write_models(lake, {"exposures.yml": BOARD})
    lake.land(
        "moved__parcels",
        [parcel(seq, f"p{seq % 4}", DAY + dt.timedelta(seq % 3), seq) for seq in range(12)],
    )
    git(lake, "init --quiet")
    commit(lake)
    yield lake
    shared_lake.empty()


def commit(lake: Lake) -> None:
    """Commit the project as it is."""
    git(lake, "add --all")
    git(lake, "-c user.name=a -c user.email=a@example.org commit -m a")


def git(lake: Lake, command: str) -> None:
    """A command of git in the project."""
    subprocess.run(["git", *command.split()], cwd=lake.project, check=True, stdout=-3)


def check(lake: Lake, *arguments: str) -> list[str]:
    """What the command prints of a change since the last commit."""
    answer = ingest(
        lake.project, lake.path, "check", "--against", "HEAD", "--data", "4000d", *arguments
    )
    assert answer.returncode == 0, answer.stdout + answer.stderr
    return answer.stdout.splitlines()


def test_rows_columns_and_exposures_that_change_are_counted(lake: Lake) -> None:
    current = MODELS["parcels_current"].replace(
        "select parcel, line, day, weight", "select parcel, line, day, weight + 1 as weight"
    )
    write_models(lake, {"parcels_current.sql": current})
    assert check(lake) == [
        "silver.parcels_current: 4 rows, 4 changed",
        "  weight: 4 rows, sum 38 to 42 (+10.53%)",
        # A roll-up without a key.
        "silver.current_daily: 3 rows, 3 added, 3 removed",
        "exposure Weights of the day: current_daily",
    ]


def test_a_refactoring_changes_nothing(lake: Lake) -> None:
    renamed = MODELS["current_daily"].replace("sum(weight) as weight", "sum(1 * weight) as weight")
    write_models(lake, {"current_daily.sql": renamed})
    assert check(lake, "--markdown") == [
        "| table | rows | what changes |",
        "|---|---|---|",
        "| `silver.current_daily` | 3 | none changes |",
    ]


def test_everything_below_a_change_is_built_afresh_in_the_trials_lake(
    lake: Lake, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    placed = f"unique_key = 'parcel', full_refresh = false, location_root = '{elsewhere}'"
    write_models(
        lake,
        {
            "placed.sql": f"{{{{ config({placed}) }}}} select parcel, weight from "
            "{{ ref('parcels_current') }}",
            "named.sql": "{{ config(unique_key = 'parcel') }} select * from {{ ref('names') }}",
            "versions.sql": "select parcel, count(*) as versions from {{ ref('kept') }} "
            "group by parcel",
            # Without a file_format.
            "kept.yml": KEPT,
        },
    )
    names = lake.project / "seeds" / "names.csv"
    names.parent.mkdir()
    names.write_text("parcel,name\np0,none\np1,one\n", encoding="utf-8")
    commit(lake)
    names.write_text("parcel,name\np0,zero\np1,one\n", encoding="utf-8")
    heavier = MODELS["parcels_current"].replace(
        "line, day, weight", "line, day, weight + 1 as weight"
    )
    write_models(lake, {"parcels_current.sql": heavier})
    found = check(lake)
    assert "silver.named: 2 rows, 1 changed" in found
    assert "silver.placed: 4 rows, 4 changed" in found
    # A snapshot that kept what the build before saw would have two.
    assert "silver.versions: 4 rows, none changes" in found
    assert not elsewhere.exists()
