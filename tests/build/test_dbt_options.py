"""Options that models of dbt-databricks have, and the clauses of a merge, in two builds."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import pytest

from tests.build.lake import Lake
from tests.build.parcels import parcel, parcel_project, refusals, write_models

DAY: Final = dt.date(2026, 3, 1)
_SOURCE: Final = "{{ source('moved', 'parcels') }}"
_NEW: Final = "where {{ incremental_filter(source('moved', 'parcels')) }}"
MODELS: Final[Mapping[str, str]] = {
    "clauses": f"""
        {{{{ config(unique_key = 'parcel', source_alias = 'new', target_alias = 'old', merge = [
            {{'when': 'matched', 'condition': "new.op = 'D'", 'then': 'delete'}},
            {{'when': 'not_matched', 'condition': "new.op <> 'D'", 'then': 'insert'}},
            {{'when': 'matched', 'condition': 'new.seq > old.seq', 'then': 'update'}}
        ]) }}}}
        select parcel, op, seq, weight, _batch_id from {_SOURCE} {_NEW}
    """,
    "mirror": """
        {{ config(
            unique_key = 'parcel',
            not_matched_by_source_action = 'delete',
            tblproperties = {'made_by': 'us'},
            liquid_clustered_by = ['parcel', 'weight']
        ) }}
        select parcel, weight from {{ ref('clauses') }}
    """,
    "ended": """
        {{ config(
            unique_key = 'parcel',
            not_matched_by_source_action = 'update set is_gone = true',
            not_matched_by_source_condition = 'DBT_INTERNAL_DEST.weight < 100'
        ) }}
        select parcel, weight, false as is_gone from {{ ref('clauses') }}
    """,
    "tagged": """
        {{ config(
            unique_key = 'parcel',
            tblproperties = {'made_by': "the analyst's"},
            databricks_tags = {'owner': none},
            liquid_clustered_by = ['parcel'],
            persist_docs = {'relation': true, 'columns': true}
        ) }}
        select parcel, weight from {{ ref('clauses') }}
    """,
    "tagged_view": """
        {{ config(
            materialized = 'view',
            databricks_tags = {'area': 'parcels'},
            persist_docs = {'relation': true, 'columns': true}
        ) }}
        select parcel from {{ ref('clauses') }}
    """,
    "synced": f"""
        {{{{ config(unique_key = 'parcel', on_schema_change = 'sync_all_columns') }}}}
        select parcel, weight, day from {_SOURCE} {_NEW}
    """,
    "rolled": """
        {{ config(incremental_strategy = 'replace_where') }}
        select day, count(*) as parcels, max(weight) as heaviest from {{ ref('current') }}
        where {{ affected_partitions('day', ref('current')) }} group by day
    """,
    "current": f"""
        {{{{ config(unique_key = 'parcel') }}}}
        select parcel, day, weight, _batch_id from {_SOURCE} {_NEW}
    """,
    "appended": f"""
        {{{{ config(incremental_strategy = 'append') }}}}
        select parcel, weight, _batch_id from {_SOURCE} {_NEW}
    """,
    "counted": f"""
        {{{{ config(unique_key = 'parcel') }}}}
        select parcel, {{{{ build_id() }}}} as _build_id from {_SOURCE} {_NEW}
    """,
}
# A test that warns, with the spelling of old projects, and a snapshot.
_YML: Final = """
    version: 2
    models:
      - name: clauses
        columns:
          - name: op
            tests:
              - accepted_values: {values: [none], config: {severity: warn}}
      - name: tagged
        description: Tagged parcels.
        columns: [{name: parcel, description: Its name.}]
      - name: tagged_view
        description: A view of them.
        columns: [{name: parcel, description: Its name.}]
    snapshots:
      - name: parcel_weights
        relation: ref('clauses')
        config: {strategy: check, unique_key: parcel, check_cols: [weight]}
"""
LATER: Final[Mapping[str, str]] = {
    # Refused before it has a table.
    "unsafe": f"""
        {{{{ config(unique_key = 'parcel', not_matched_by_source_action = 'delete') }}}}
        select parcel, _batch_id from {_SOURCE} {_NEW}
    """,
    "tagged": MODELS["tagged"]
    .replace("the analyst's", "another's")
    .replace("['parcel']", "['weight', 'parcel']"),
    "synced": MODELS["synced"].replace(", day", ""),
    "rolled": MODELS["rolled"].replace(", max(weight) as heaviest", ""),
    "appended": MODELS["appended"].replace("weight, ", ""),
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What two builds left."""

    lake: Lake
    first: Mapping[str, str]
    statuses: Mapping[str, str]
    refused: Mapping[str, str]


def statuses(answer: Any) -> dict[str, str]:
    """What became of each node, by its name."""
    assert answer.result, answer.exception
    return {result.node.name: str(result.status) for result in answer.result}


@pytest.fixture(scope="module")
def outcome(shared_lake: Lake, tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    shared_lake.empty()
    lake = parcel_project(shared_lake, tmp_path_factory.mktemp("options"), MODELS)
    write_models(lake, {"models.yml": _YML})
    rows = [parcel(1, name, DAY, weight) for name, weight in (("a", 1), ("b", 2), ("c", 300))]
    lake.land("moved__parcels", [*rows, {**parcel(1, "never", DAY), "op": "D"}])
    first = lake.dbt("build")
    write_models(lake, {f"{name}.sql": text for name, text in LATER.items()})
    lake.land(
        "moved__parcels",
        [
            {**parcel(2, "a", DAY), "op": "D"},
            parcel(0, "b", DAY, 9),
            {**parcel(2, "c", DAY), "op": "D"},
            parcel(2, "d", DAY, 4),
            {**parcel(2, "nor this", DAY), "op": "D"},
        ],
    )
    second = lake.dbt("build")
    assert lake.dbt("run", "--select", "mirror", "rolled", "counted", "--empty").success
    lake.land("moved__parcels", [parcel(3, "e", DAY, 5)])
    lake.build("current", "rolled", "counted")
    return Outcome(lake, statuses(first), statuses(second), refusals(second))


def test_clauses_of_a_merge_delete_update_and_insert(outcome: Outcome) -> None:
    """Not the rows of a first build, either, that no clause would insert."""
    assert [tuple(row) for row in outcome.lake.rows("silver.clauses", "parcel", "weight")] == [
        *(("b", 2), ("d", 4))
    ]


def test_rows_that_the_input_lacks_are_deleted(outcome: Outcome) -> None:
    """But not those that it lacks because dbt cuts it (`--empty`)."""
    assert [row.parcel for row in outcome.lake.rows("silver.mirror")] == ["b", "d"]


def test_rows_that_the_input_lacks_are_updated_under_a_condition(outcome: Outcome) -> None:
    rows = outcome.lake.rows("silver.ended", "parcel", "is_gone")
    assert [tuple(row) for row in rows] == [
        *(("a", True), ("b", False), ("c", False), ("d", False))
    ]


def test_all_rows_but_the_new_ones_are_not_changed(outcome: Outcome) -> None:
    assert outcome.refused["unsafe"].startswith(
        "silver.unsafe: not_matched_by_source without a condition would change every row"
    )


def test_properties_tags_clustering_and_comments_are_applied_and_changed(outcome: Outcome) -> None:
    detail = outcome.lake.spark.sql("describe detail silver.tagged").first()
    assert detail is not None
    assert detail.properties["made_by"] == "another's"
    assert detail.properties["tag.owner"] == ""
    assert detail.clusteringColumns == ["weight", "parcel"]
    assert detail.description == "Tagged parcels."
    columns = outcome.lake.spark.sql("describe table silver.tagged").collect()
    assert columns[0].comment == "Its name."


def test_properties_and_clustering_are_set_only_where_they_changed(outcome: Outcome) -> None:
    def alterations(table: str) -> set[str]:
        history = outcome.lake.spark.sql(f"describe history {table}").collect()
        return {row.operation for row in history} & {"CLUSTER BY", "SET TBLPROPERTIES"}

    assert alterations("silver.tagged") == {"CLUSTER BY", "SET TBLPROPERTIES"}
    assert alterations("silver.mirror") == set()


def test_views_have_tags_and_comments(outcome: Outcome) -> None:
    assert outcome.lake.properties("silver.tagged_view")["tag.area"] == "parcels"
    columns = outcome.lake.spark.sql("describe table silver.tagged_view").collect()
    assert columns[0].comment == "Its name."


def test_a_column_that_would_be_dropped_is_refused_with_the_remedy(outcome: Outcome) -> None:
    assert "the model no longer returns day, and sync_all_columns" in outcome.refused["synced"]
    assert "--full-refresh --select synced" in outcome.refused["synced"]


def test_nothing_else_is_refused(outcome: Outcome) -> None:
    assert set(outcome.refused) == {"unsafe", "synced"}


def test_a_test_that_warns_skips_nothing(outcome: Outcome) -> None:
    warned = [name for name, status in outcome.statuses.items() if status == "warn"]
    assert warned == ["accepted_values_clauses_op__none"]
    assert "skipped" not in outcome.statuses.values()
    assert outcome.statuses["mirror"] == "success"


def test_a_snapshot_keeps_versions(outcome: Outcome) -> None:
    rows = outcome.lake.rows("silver.parcel_weights", "parcel", "weight")
    assert [tuple(row) for row in rows] == [("a", 1), ("b", 2), ("c", 300), ("d", 4)]


def test_a_column_that_a_model_no_longer_selects_is_null_in_new_rows(outcome: Outcome) -> None:
    assert outcome.lake.rows("silver.rolled") == [(DAY, 7, None)]
    old = [("a", 1), ("b", 2), ("c", 300), ("never", 1)]
    new = [(name, None) for name in ("a", "b", "c", "d", "nor this")]
    assert outcome.lake.rows("silver.appended") == sorted([*old, *new], key=str)


def test_a_build_of_no_rows_leaves_what_was_read(outcome: Outcome) -> None:
    """The number of the next build follows on that of the last one."""
    rows = outcome.lake.rows("silver.counted", "parcel", "_build_id")
    assert [row for row in rows if row.parcel in ("e", "never")] == [("e", 2), ("never", 0)]


def test_the_first_build_succeeds(outcome: Outcome) -> None:
    assert set(outcome.first.values()) == {"success", "warn"}
