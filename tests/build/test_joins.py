"""Joins within a time and sessions: increments equal a full build, in whatever order rows come."""

from __future__ import annotations

import datetime as dt
import itertools
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from tests import fuzzing
from tests.build.lake import Lake, Record
from tests.build.parcels import parcel, parcel_project, refusals, write_models

STEPS: Final = 4
WITHIN: Final = 10
GAP: Final = 5
START: Final = dt.datetime.fromisoformat("2026-03-01")

_AT: Final = f"timestamp'{START}' + make_interval(0, 0, 0, 0, 0, cast(weight as int)) as at"


def joined(select: str, how: str, key: str, own: str = "'seq'") -> str:
    """A model of taps, by a key of their own, and of what was bought at most ten minutes later."""
    return f"""
        {{{{ config(unique_key = {key}, merge_bounds = ['seq'], on_schema_change = 'ignore') }}}}
        select {select}, {{{{ build_id() }}}} as _build_id
        from {{{{ joined(
            taps=ref('taps'), buys=ref('buys'),
            on='parcel', within='10 minutes', time='at', key={own}, how='{how}'
        ) }}}}
    """


def sessions(of: str, more: str = "") -> str:
    """A model of the sessions of each name."""
    return f"""
        {{{{ config(unique_key = ['parcel', 'session_started_at']) }}}}
        select parcel, session_started_at, session_ended_at, count(*) as rows
        from {{{{ sessions(ref('{of}'), by='parcel', time='at', gap='5 minutes') }}}}
        group by parcel, session_started_at, session_ended_at {more}
    """


MODELS: Final[Mapping[str, str]] = {
    # Rows that come and stay.
    "taps": f"""
        {{{{ config(unique_key = 'seq', skip_matched_step = true) }}}}
        select seq, nullif(parcel, '') as parcel, {_AT}, max(_batch_id) as _batch_id
        from {{{{ source('moved', 'parcels') }}}}
        where op = 'A' and {{{{ incremental_filter(source('moved', 'parcels')) }}}}
        group by seq, parcel, weight
    """,
    # Rows that move and are deleted.
    "buys": f"""
        {{{{ config(
            materialized = 'apply_changes', keys = ['line'], sequence_by = ['seq'],
            apply_as_deletes = "op = 'D'", except_column_list = ['op']
        ) }}}}
        select line, seq, nullif(parcel, '') as parcel, {_AT}, op, _batch_id
        from {{{{ source('moved', 'parcels') }}}} where op in ('B', 'D')
    """,
    "pairs": joined("taps.seq, buys.line", "inner", "['seq', 'line']"),
    "taps_with_buys": joined("taps.seq, taps.at, buys.line", "left", "['seq', 'line']"),
    "taps_then_buys": joined("taps.seq, taps.at", "left semi", "'seq'"),
    # A key with nulls.
    "taps_then_nothing": joined(
        "taps.seq, taps.parcel, taps.at", "left anti", "['seq', 'parcel']", "['seq', 'parcel']"
    ),
    "buys_before_taps": """
        {{ config(unique_key = ['line', 'tap']) }}
        select buys.line, taps.seq as tap, {{ build_id() }} as _build_id
        from {{ joined(
            buys=ref('buys'), taps=ref('taps'),
            on='parcel', within='10 minutes', time=['at', 'at'], key='line', how='left'
        ) }}
    """,
    "tap_sessions": sessions("taps"),
    "buy_sessions": sessions("buys"),
}


def steps(draw: random.Random, number: int) -> list[list[Record]]:
    """For each build the records that have landed: late ones, some twice, some without a value."""
    found: list[list[Record]] = [[] for _ in range(STEPS)]
    for seq in range(number):
        record = parcel(
            seq,
            draw.choice(["", "p0", "p1", "p2", "p3"]),
            None,
            draw.choice([None, *range(60)]),
            line=draw.randrange(number // 5),
            op=draw.choice("AAABBD"),
        )
        for _ in range(draw.choice([1, 1, 1, 2])):
            found[draw.randrange(STEPS)].append(record)
    for step in found:
        draw.shuffle(step)
    return found


def matches(one: Record, other: Record) -> bool:
    """Whether a second row follows a first within the time."""
    if not one["parcel"] or None in (one["weight"], other["weight"]):
        return False
    return bool(one["parcel"] == other["parcel"] and 0 <= other["weight"] - one["weight"] <= WITHIN)


def moment(minute: int | None) -> dt.datetime | None:
    """When something happened."""
    return None if minute is None else START + dt.timedelta(minutes=minute)


def expected(records: Sequence[Record]) -> Mapping[str, Iterable[tuple[Any, ...]]]:
    """The rows of each table, from all records at once."""
    changes = sorted({one["seq"]: one for one in records}.values(), key=lambda one: one["seq"])
    taps = [one for one in changes if one["op"] == "A"]
    newest = {one["line"]: one for one in changes if one["op"] in "BD"}
    buys = [one for one in newest.values() if one["op"] == "B"]
    times = {one["seq"]: moment(one["weight"]) for one in taps}
    names = {one["seq"]: one["parcel"] or None for one in taps}
    bought = {one["seq"]: [buy["line"] for buy in buys if matches(one, buy)] for one in taps}
    tapped = {one["line"]: [tap["seq"] for tap in taps if matches(one, tap)] for one in buys}
    return {
        "pairs": [(seq, line) for seq, lines in bought.items() for line in lines],
        "taps_with_buys": [
            (seq, times[seq], line) for seq, lines in bought.items() for line in lines or [None]
        ],
        "taps_then_buys": [(seq, times[seq]) for seq, lines in bought.items() if lines],
        "taps_then_nothing": [
            (seq, names[seq], times[seq]) for seq, lines in bought.items() if not lines
        ],
        "buys_before_taps": [
            (line, tap) for line, taps in tapped.items() for tap in taps or [None]
        ],
        "tap_sessions": sessions_of(taps),
        "buy_sessions": sessions_of(buys),
    }


def sessions_of(rows: Iterable[Record]) -> Iterable[tuple[Any, ...]]:
    """Sessions of each name: {name, beginning, end, rows}."""
    of_name: dict[str, list[int]] = defaultdict(list)
    for row in rows:
        if row["parcel"] and row["weight"] is not None:
            of_name[row["parcel"]].append(row["weight"])
    for name, found in of_name.items():
        minutes = sorted(found)
        starts = [
            number
            for number, minute in enumerate(minutes)
            if number == 0 or minute - minutes[number - 1] > GAP
        ]
        for start, end in itertools.pairwise([*starts, len(minutes)]):
            yield name, moment(minutes[start]), moment(minutes[end - 1]), end - start


def test_builds_over_parts_equal_what_python_makes_of_all(
    shared_lake: Lake, tmp_path: Path
) -> None:
    shared_lake.empty()
    lake = parcel_project(shared_lake, tmp_path, MODELS)
    records: list[Record] = []
    for step, batch in enumerate(steps(random.Random(fuzzing.seed()), fuzzing.cases(60))):
        lake.land("moved__parcels", batch)
        records += batch
        before = lake.version("ops.model_marks") if step == 2 else None
        if step == STEPS - 1:
            # `on_schema_change` keeps the column out of the table, removed rows or not.
            changed = MODELS["taps_then_nothing"].replace("taps.at,", "taps.at, 1 as more,")
            write_models(lake, {"taps_then_nothing.sql": changed})
        lake.build()
        wanted = {name: Counter(rows) for name, rows in expected(records).items()}
        found = {
            name: Counter(tuple(row) for row in lake.rows(f"silver.{name}")) for name in wanted
        }
        assert found == wanted, f"build {step}"
        # What a build leaves that was killed before its marks were recorded: two of them here.
        if step == 0:
            lake.spark.sql("delete from ops.model_marks")
        if before is not None:
            lake.spark.sql(f"restore table ops.model_marks to version as of {before}")
    again = lake.build()
    assert {again[name].message for name in wanted} == {"nothing new"}


@pytest.mark.parametrize(
    ("given", "wrong", "refusal"),
    [
        (
            "10 minutes",
            "soon",
            "joined() takes a time within such as 15 minutes, in seconds, minutes, hours or days",
        ),
        (
            "buys=ref('buys'),",
            "",
            "joined() takes two inputs by name, such as views=ref('view_events'), and on, within, ",
        ),
        (
            "taps=ref('taps'), buys=ref('buys')",
            "ref('taps'), ref('buys')",
            "joined() takes two inputs by name",
        ),
        ("within=", "withn=", "joined() takes two inputs by name"),
        ("'10 minutes', time='at'", "'10 minutes'", "joined() takes two inputs by name"),
    ],
)
def test_what_no_join_can_mean_is_a_line(
    shared_lake: Lake, tmp_path: Path, given: str, wrong: str, refusal: str
) -> None:
    lake = parcel_project(
        shared_lake, tmp_path, {**MODELS, "pairs": MODELS["pairs"].replace(given, wrong)}
    )
    assert f"silver.pairs: {refusal}" in str(lake.dbt("parse").exception)


def test_what_cannot_be_followed_is_refused_by_name(shared_lake: Lake, tmp_path: Path) -> None:
    shared_lake.empty()
    by_append = MODELS["pairs"].replace(
        "unique_key = ['seq', 'line'], merge_bounds = ['seq']", "incremental_strategy = 'append'"
    )
    models = {
        "taps": MODELS["taps"],
        "buys": MODELS["buys"],
        "by_append": by_append,
        "first_copies": MODELS["pairs"].replace(
            "merge_bounds", "skip_matched_step = true, merge_bounds"
        ),
        "without_key": MODELS["pairs"]
        .replace("taps.seq, ", "")
        .replace("unique_key = ['seq', 'line'], merge_bounds = ['seq']", "unique_key = 'line'"),
        "few_sessions": sessions("taps", "having count(*) > 1"),
        "endless_sessions": sessions("taps").replace("session_ended_at, count", "count"),
    }
    lake = parcel_project(shared_lake, tmp_path, models)
    lake.land("moved__parcels", [parcel(seq, "p1", None, seq, op="A") for seq in (1, 2)])
    assert refusals(lake.dbt("run")) == {
        "by_append": "silver.by_append: joined() needs incremental_strategy merge and a "
        "unique_key, by which rows are replaced",
        "first_copies": "silver.first_copies: joined() replaces rows that a later one changes, and "
        "a merge without a clause for matched, such as with skip_matched_step, keeps their first "
        "copy; leave that out",
        "endless_sessions": "silver.endless_sessions: sessions() finds the rows to replace by "
        "session_ended_at, which the model does not select; select it",
        "without_key": "silver.without_key: joined() finds the rows to replace by seq, which the "
        "model does not select; select it",
    }
    lake.land("moved__parcels", [parcel(3, "p2", None, 1, op="A")])
    assert refusals(lake.dbt("run", "--select", "taps", "few_sessions")) == {
        "few_sessions": "silver.few_sessions: it keeps 0 of 1 sessions that changed, but "
        "sessions() finds those that a later row continues in the model itself; keep all, and "
        "select some where the model is read",
    }
