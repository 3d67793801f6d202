"""`ingest fuzz`: models whose increments go wrong are found, those of the documented kinds pass."""

from __future__ import annotations

import datetime as dt
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.build.lake import Lake, Record
from tests.build.parcels import MODELS, parcel, parcel_project, standalone
from tests.build.process import ingest

pytestmark = pytest.mark.long

_SOURCE: Final = "{{ source('moved', 'parcels') }}"
_NEW: Final = "where {{ incremental_filter(source('moved', 'parcels')) }}"


def merged(select: str, key: str = "parcel", more: str = "") -> str:
    """A model that merges a query by a key."""
    return f"{{{{ config(unique_key = '{key}'{more}) }}}} {select}"


# Each is wrong in a way of its own.
MISTAKES: Final = {
    "appended_again": f"""
        {{{{ config(incremental_strategy = 'append', full_refresh = false) }}}}
        select parcel, max(_batch_id) as _batch_id from {_SOURCE} {_NEW} group by parcel
    """,
    "counted_in_the_slice": merged(
        f"select parcel, count(*) as rows, max(_batch_id) as _batch_id from {_SOURCE} {_NEW} "
        "group by parcel"
    ),
    "summed_in_the_slice": merged(
        f"select day, sum(weight) as weight, max(_batch_id) as _batch_id from {_SOURCE} {_NEW} "
        "group by day",
        key="day",
    ),
    "newest_of_the_slice": merged(
        f"select parcel, max_by(weight, seq) as weight, max(_batch_id) as _batch_id "
        f"from {_SOURCE} {_NEW} group by parcel"
    ),
    "first_that_came": merged(
        f"select parcel, min_by(weight, seq) as weight, max(_batch_id) as _batch_id "
        f"from {_SOURCE} {_NEW} group by parcel",
        more=", skip_matched_step = true",
    ),
    "numbered_in_the_slice": merged(
        f"select seq, parcel, row_number() over (partition by parcel order by seq) as number, "
        f"_batch_id from (select distinct seq, parcel, max(_batch_id) as _batch_id from {_SOURCE} "
        f"{_NEW} group by seq, parcel)",
        key="seq",
    ),
    "later_than_the_last": merged(
        f"select seq, max(weight) as weight from {_SOURCE} "
        "{% if is_incremental() %} where seq > (select max(seq) from {{ this }}) {% endif %} "
        "group by seq",
        key="seq",
    ),
    "not_in_with_a_null": merged(
        f"select line, min(parcel) as parcel from {_SOURCE} "
        "{% if is_incremental() %} where line not in (select line from {{ this }}) {% endif %} "
        "group by line",
        key="line",
    ),
    "deleted_stays": merged(
        f"select parcel, max(_batch_id) as _batch_id from {_SOURCE} {_NEW} "
        "group by parcel having max_by(op, seq) <> 'D'"
    ),
    "one_side_only": merged(
        f"select few.parcel, min(few.day) as first_day, min(more.weight) as least, "
        f"max(few._batch_id) as _batch_id from (select * from {_SOURCE} {_NEW}) as few "
        f"join {_SOURCE} as more on few.line = more.line group by few.parcel"
    ),
}
# Fails as soon as there is something to build.
REFUSED: Final = {
    "refused": merged(
        f"select seq, cast(raise_error('too heavy') as bigint) as weight from {_SOURCE} {_NEW} "
        "group by seq",
        key="seq",
    )
}
EMPTY: Final = {"empty": merged(f"select seq from {_SOURCE} {_NEW} and seq < 0", key="seq")}
# Of those that tests/build/test_moving_rows.py proves, each with what it reads.
RIGHT: Final = ("current_daily", "current_by_weight", "facts_daily", "latest_daily")


@pytest.fixture(scope="module")
def project(shared_lake: Lake, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A project of right and wrong models, whose stream has landed."""
    root = tmp_path_factory.mktemp("fuzz")
    shared_lake.empty()
    lake = standalone(parcel_project(shared_lake, root, {**MODELS, **MISTAKES, **REFUSED, **EMPTY}))
    lake.land("moved__parcels", records())
    yield lake.project
    shared_lake.empty()


def records() -> list[Record]:
    """Parcels of few names, whose changes move them, lack values and delete them."""
    draw = random.Random(1)
    return [
        parcel(
            seq,
            f"p{draw.randrange(8)}",
            draw.choice([None, *(dt.date(2026, 3, day) for day in range(1, 5))]),
            draw.choice([None, 1, 2, 3, 4]),
            line=draw.choice([None, 1, 2]),
            op=draw.choice("UUUD"),
            _offset=seq,
        )
        for seq in range(60)
    ]


def fuzz(project: Path, lake: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command, in the project, on the lake."""
    return ingest(project, lake, "fuzz", *arguments)


@pytest.mark.timeout(2400)
def test_mistakes_are_found_with_the_input_that_shows_them(
    shared_lake: Lake, project: Path
) -> None:
    answer = fuzz(project, shared_lake.path, *MISTAKES, "--cases", "20")
    found = [line.split(":")[0] for line in answer.stdout.splitlines() if " differ from " in line]
    assert sorted(found) == sorted(MISTAKES), answer.stdout + answer.stderr
    assert answer.returncode == 1
    assert answer.stdout.count("the smallest input found:") == len(MISTAKES)


@pytest.mark.timeout(2400)
def test_models_that_follow_their_input_pass(shared_lake: Lake, project: Path) -> None:
    models = [*RIGHT, *REFUSED, *EMPTY]
    answer = fuzz(project, shared_lake.path, *models, "--cases", "5")
    refused, *passed, empty = answer.stdout.splitlines()
    assert passed == [f"{one}: 5 cases; increments equal a full refresh in each" for one in RIGHT]
    assert "\ncase 5 of 5: 5 of 5 equal; no rows to compare: empty" in answer.stderr
    assert empty.startswith("empty: had no rows in any case: nothing was compared")
    # A model that cannot be built does not end the others.
    assert refused.startswith("refused: refused was not built: ")
    assert "too heavy" in refused
    assert refused.endswith(f" (ingest fuzz {' '.join(models)} --cases 1 --seed 1)")
    assert answer.returncode == 1


def test_a_model_that_is_not_there_is_a_line(shared_lake: Lake, project: Path) -> None:
    answer = fuzz(project, shared_lake.path, "nobody", "--cases", "1")
    assert answer.returncode == 2
    assert answer.stderr == (
        "error[INPUT]: there is no model nobody; see `dbt ls --resource-type model`\n"
    )
