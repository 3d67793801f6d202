"""Readers of tables whose rows change: what a build follows, and what it refuses."""

from __future__ import annotations

import datetime as dt
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from tests.build.feed_models import CURRENT, FEEDS, LATER, SOURCE, UNREAD, roll_up
from tests.build.lake import Lake
from tests.build.parcels import MODELS, parcel, parcel_project, refusals, write_models

DAYS: Final = [dt.date(2026, 3, day) for day in range(1, 5)]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The lake after two builds, and what the second one refused.

    `repeated` is what a third one refused, of repeated keys and of a table without its folder.
    """

    lake: Lake
    refused: Mapping[str, str]
    repeated: Mapping[str, str]
    rows: Mapping[str, list[tuple[Any, ...]]]


@pytest.fixture(scope="module")
def outcome(shared_lake: Lake, tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """Parcels that move to another day, leave a null, and go; then two of one key."""
    shared_lake.empty()
    lake = parcel_project(shared_lake, tmp_path_factory.mktemp("feeds"), FEEDS)
    first = [
        parcel(1, "p'1, /* end */", DAYS[0], 7, line=1),
        parcel(2, "p2", DAYS[1], 5),
        parcel(3, "p3", None, 5, line=4),
        parcel(4, "p4", DAYS[3], 5, line=5),
        parcel(5, "p5", DAYS[2], 9),
        parcel(6, "p6", DAYS[2], 9),
    ]
    lake.land("moved__parcels", first)
    lake.build()
    moved = [{**one, "seq": one["seq"] + 10, "day": DAYS[1]} for one in first[:3]]
    gone = parcel(14, "p4", DAYS[3], 5, line=5, op="D")
    lake.land("moved__parcels", [*moved, gone, parcel(16, "p6", DAYS[2], 10)])
    write_models(lake, {f"{name}.sql": text for name, text in LATER.items()})
    refused = refusals(lake.dbt("build"))
    names = (
        *("plain", "lines", "by_day", "by_parcel", "by_two_days", "of_whole", "of_seen", "of_both"),
        *("of_hand", "renamed", "of_whole_later", "bounded", "of_numbered"),
    )
    rows = {name: [tuple(row) for row in lake.rows(f"silver.{name}")] for name in names}
    lake.land("moved__parcels", [parcel(21, "p9", DAYS[0]), parcel(22, "p9", DAYS[1])])
    write_models(lake, {"begun.sql": FEEDS["plain"]})
    shutil.rmtree(lake.path / "silver" / "bounded")
    lake.forget_logs()
    repeated = refusals(lake.dbt("build", "--select", "plain", "lines", "begun", "bounded"))
    return Outcome(lake, refused, repeated, rows)


def test_the_day_that_a_row_left_is_computed_again(outcome: Outcome) -> None:
    assert outcome.rows["by_day"] == [(DAYS[1], 17), (DAYS[2], 19), (DAYS[3], 5)]


def test_the_window_that_a_row_left_is_computed_again(outcome: Outcome) -> None:
    windows = [dt.datetime(2026, 3, day, tzinfo=dt.UTC) for day in (2, 4)]
    found = [(began.astimezone(dt.UTC), weight) for began, weight in outcome.rows["by_two_days"]]
    assert found == [(windows[0], 36), (windows[1], 5)]


def test_a_table_that_is_merged_by_hand_is_followed_in_the_same_build(outcome: Outcome) -> None:
    assert outcome.rows["of_hand"] == outcome.rows["by_day"]


def test_rows_are_found_by_the_column_that_has_their_key(outcome: Outcome) -> None:
    assert outcome.rows["renamed"] == [
        *(("p'1, /* end */", 7), ("p2", 5), ("p3", 5), ("p5", 9), ("p6", 10))
    ]


def test_texts_are_touched_whatever_letters_they_have(outcome: Outcome) -> None:
    assert outcome.rows["by_parcel"] == [
        *(("p'1, /* end */", 7), ("p2", 5), ("p3", 5), ("p4", 5), ("p5", 9), ("p6", 10))
    ]


def test_a_roll_up_of_a_table_without_feed_or_of_a_view_is_computed_whole(
    outcome: Outcome,
) -> None:
    assert outcome.rows["of_whole"] == outcome.rows["by_day"]
    assert outcome.rows["of_whole_later"] == outcome.rows["by_day"]
    assert outcome.rows["of_seen"] == [(10, 9), (11, 10), (6, 15), (8, 7)]


def test_a_bound_finds_rows_whose_value_was_missing(outcome: Outcome) -> None:
    assert outcome.rows["bounded"] == [("p3", DAYS[1])]


def test_build_numbers_are_followed_through_a_view(outcome: Outcome) -> None:
    assert outcome.rows["of_numbered"] == [(row[0], row[3]) for row in outcome.rows["plain"]]


def test_values_that_one_input_touched_are_read_of_all(outcome: Outcome) -> None:
    assert outcome.rows["of_both"] == [(DAYS[1], 6), (DAYS[2], 4), (DAYS[3], 1)]


def test_a_null_in_a_key_is_a_key(outcome: Outcome) -> None:
    keys = [row[:2] for row in outcome.rows["lines"]]
    assert keys[:4] == [("p'1, /* end */", 1), ("p2", None), ("p3", 4), ("p4", 5)]
    assert len(keys) == 6


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("by_line", "unique_key line does not have all columns of its key (parcel)"),
        ("first_copies", "skip_matched_step keeps the first copy of a row"),
        ("read_whole", "incremental_filter() cannot determine which rows of silver.whole"),
        ("appended", "append does not find the rows made from them by incremental_filter()"),
        ("followed", "no change event records the deletion; set keep_deleted: true"),
        ("followed_whole", "no change event records the deletion; set keep_deleted: true"),
        ("followed_by_line", "keys line are not its key"),
        ("of_weights", "rows of silver.by_weight changed without a higher _batch_id"),
        ("other_names", "its column parcel has values that parcel of silver.plain does not have"),
        ("named_alike", "the model reads silver.parcels_current, too, so that unique_key parcel"),
        ("overwritten", "insert_overwrite without partition_by replaces all rows by those that"),
        ("first_of_key", "give rows that have changed, and skip_matched_step keeps their first"),
        ("of_mixed", "rows of bronze.moved__parcels and of silver.numbered, each by itself"),
        ("of_inlined", "inlined is ephemeral, so that its rows cannot be read in increments"),
        ("united", "the model reads silver.parcels_current, too, so that unique_key kind, parcel"),
        ("without_number", "rows of a build that was killed are appended twice"),
        ("merged_days", "affected_partitions() needs incremental_strategy replace_where"),
        ("appended_days", "append adds them again"),
        ("keyless_days", "merge without a unique_key adds them again"),
        ("days_of_none", "takes a column of silver.lines, and lime is none; it has parcel, line,"),
        ("keys_appended", "append without a unique_key appends them; use merge with a unique_key"),
        ("other_days", "affected_partitions() finds the rows to replace by line, which the model"),
        ("keyed_wrongly", "unique_key parsel is not a column of the model; it has parcel, weight"),
        ("of_a_name", "takes a relation, such as ref('app_events'), and not lines"),
        ("replaced_wrongly", "there is no incremental_strategy replacewhere; there are merge, "),
        ("no_column", "find the rows to replace by day, which the model does not select"),
        ("apart", "values that are affected in one input must be read from all inputs"),
        ("by_ratio", "and ratio of silver.ratios is double"),
    ],
)  # fmt: skip
def test_what_cannot_be_followed_is_refused(outcome: Outcome, model: str, words: str) -> None:
    assert outcome.refused[model].startswith(f"silver.{model}: ")
    assert words in outcome.refused[model]


@pytest.mark.parametrize(
    ("model", "line"),
    [
        ("of_no_batches", "; a model that is read in increments must select _batch_id, and"),
        ("uneven", "SQL: the model gives rows outside of what it replaces, ((window_started_at"),
    ],
)
def test_what_spark_says_of_an_increment_is_one_line(
    outcome: Outcome, model: str, line: str
) -> None:
    assert line in outcome.refused[model]


def test_spark_shows_no_plan_of_a_statement(outcome: Outcome) -> None:
    line = outcome.refused["of_no_column"]
    assert line.startswith("[UNRESOLVED_COLUMN.WITH_SUGGESTION] A column, variable, or function")
    assert re.search(r"`wight`.*Did you mean.*`weight`.* line \d+ pos \d+$", line)


def test_a_table_whose_folder_is_gone_is_named_with_the_remedy(outcome: Outcome) -> None:
    line = outcome.repeated["bounded"]
    assert line.startswith("STORAGE: ")
    assert line.endswith(
        "/silver/bounded is gone, but the catalog names it: put it back, or build its model again "
        "(--full-refresh --select bounded)"
    )


def test_nothing_else_is_refused(outcome: Outcome) -> None:
    assert len({*FEEDS, *LATER} & set(outcome.refused)) == 31


@pytest.mark.parametrize(
    ("model", "key"),
    [("plain", '{"parcel":"p9"}'), ("lines", '{"parcel":"p9","line":null}'),
     ("begun", '{"parcel":"p')],
)  # fmt: skip
def test_a_key_that_comes_twice_in_a_build_is_refused(
    outcome: Outcome, model: str, key: str
) -> None:
    """Also where the table has no such key yet, and where there is no table."""
    assert f"silver.{model}: unique_key parcel" in outcome.repeated[model]
    assert f"rows have {key}" in outcome.repeated[model]
    assert "keep one row per key" in outcome.repeated[model]


def test_only_tables_whose_rows_readers_follow_keep_a_feed(outcome: Outcome) -> None:
    def has_feed(table: str) -> bool:
        properties = outcome.lake.properties(f"silver.{table}")
        return properties.get("delta.enableChangeDataFeed") == "true"

    assert [has_feed(one) for one in ("plain", "parcels_current", "by_day", "lines")] == [
        *(True, True, False, False)
    ]


@pytest.mark.parametrize(
    ("table", "layer"),
    [("plain", "silver"), ("by_day", "silver"), ("parcels_current", "silver"), ("whole", "own")],
)
def test_tables_have_their_layer_unless_the_model_configures_another(
    outcome: Outcome, table: str, layer: str
) -> None:
    assert outcome.lake.properties(f"silver.{table}")["quality"] == layer
    history = outcome.lake.spark.sql(f"describe history silver.{table}")
    assert "SET TBLPROPERTIES" not in {row.operation for row in history.collect()}


def test_spark_reads_a_table_without_its_changes_where_it_is_named_twice(outcome: Outcome) -> None:
    """When this goes red: macros/incremental/changes_since.sql may name the table."""
    query = (
        "with changed as (select * from table_changes('silver.plain', 1)) "
        "select _change_type from changed left semi join silver.plain using (parcel)"
    )
    with pytest.raises(Exception, match="UNRESOLVED_COLUMN"):
        outcome.lake.spark.sql(query)


@pytest.mark.long
def test_reader_without_watermark_or_of_a_new_feed_counts_correctly(
    shared_lake: Lake, tmp_path: Path
) -> None:
    models = {name: MODELS[name] for name in ("parcels_current", "current_daily", "heavy_parcels")}
    models["whole"] = f"{{{{ config(materialized = 'table') }}}} select * from {CURRENT}"
    models["of_whole"] = roll_up("whole", "day")
    models["appended"] = f"""
        {{{{ config(incremental_strategy = 'append') }}}}
        select parcel, seq, _batch_id from {SOURCE} {UNREAD}
    """
    shared_lake.empty()
    lake = parcel_project(shared_lake, tmp_path, models)
    lake.land("moved__parcels", [parcel(1, "p1", DAYS[0], 7), parcel(2, "p2", DAYS[1], 5)])
    lake.build()
    # What first builds that were killed before their marks were recorded leave.
    readers = "('silver.current_daily', 'silver.heavy_parcels', 'silver.appended')"
    lake.spark.sql(f"delete from ops.model_marks where model in {readers}")
    lake.land("moved__parcels", [parcel(3, "p1", DAYS[0], op="D")])
    lake.build()
    assert lake.rows("silver.current_daily") == [(DAYS[1], 5, 1)]
    assert lake.rows("silver.heavy_parcels") == [("p2", DAYS[1], 5)]
    # Nothing of what is left is newer than before.
    assert lake.rows("silver.of_whole") == [(DAYS[1], 5)]
    assert [row.seq for row in lake.rows("silver.appended")] == [1, 3, 2]

    lake.build("parcels_current", full_refresh=True)
    refused = refusals(lake.dbt("build"))
    assert set(refused) == {"heavy_parcels"}
    assert refused["heavy_parcels"].endswith(
        "its change data feed began later; build once with --full-refresh --select heavy_parcels"
    )
    assert lake.rows("silver.current_daily") == [(DAYS[1], 5, 1)]
