"""`dbt clone`: a table that shares another's files goes on by itself, and can be cloned again."""

from __future__ import annotations

import datetime as dt
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from tests.build.lake import ROOT, Lake, environment
from tests.build.parcels import MODELS as PARCELS
from tests.build.parcels import parcel, parcel_project, refusals

DAY: Final = dt.date(2026, 3, 1)
MODELS: Final = {
    "parcels_seen": """
        {{ config(incremental_strategy = 'append') }}
        select seq, parcel, _batch_id from {{ source('moved', 'parcels') }}
        where {{ incremental_filter(source('moved', 'parcels')) }}
    """,
    "parcels_current": PARCELS["parcels_current"],
    "current_daily": """
        {{ config(
            incremental_strategy = 'replace_where',
            tblproperties = {'delta.deletedFileRetentionDuration': 'interval 30 days'}
        ) }}
        select day, sum(weight) as weight, count(*) as parcels
        from {{ ref('parcels_current') }}
        where {{ affected_partitions('day', ref('parcels_current')) }}
        group by day
    """,
    "current_by_weight": PARCELS["current_by_weight"],
}
# As in a project that keeps environments apart by the names of schemas.
_SCHEMAS: Final = """
    {% macro generate_schema_name(custom_schema_name, node) -%}
        {{ env_var('PARCELS_PREFIX') }}{{ custom_schema_name or target.schema }}
    {%- endmacro %}
"""


@pytest.fixture
def cloned(lake: Lake, tmp_path: Path) -> Iterator[tuple[Lake, Path, list[str]]]:
    """Built tables, cloned for development; the folder of state, and what dbt said."""
    made = parcel_project(lake, tmp_path, MODELS)
    (made.project / "macros").unlink()
    shutil.copytree(ROOT / "macros", made.project / "macros")
    (made.project / "macros" / "schemas" / "generate_schema_name.sql").write_text(_SCHEMAS)
    state = tmp_path / "state"
    state.mkdir()
    with environment(PARCELS_PREFIX=""):
        for weight in (1, 5):
            made.land("moved__parcels", [parcel(weight, name, DAY, weight) for name in "ab"])
        made.build()
    shutil.copy(made.target / "manifest.json", state)
    with environment(PARCELS_PREFIX="dev_"):
        yield made, state, clone(made, state)
        lake.spark.sql("drop schema if exists dev_silver cascade")
        shutil.rmtree(lake.path / "dev_silver", ignore_errors=True)


def clone(project: Lake, state: Path, *more: str) -> list[str]:
    """Clone all models; what dbt said of them."""
    said: list[str] = []

    def note(event: Any) -> None:
        if event.info.name == "JinjaLogInfo":
            said.append(event.data.msg)

    answer = project.dbt("clone", "--state", str(state), *more, note=note)
    assert answer.success, answer.exception or answer.result
    return sorted(said)


def all_rows(project: Lake, schema: str) -> dict[str, Any]:
    return {name: project.rows(f"{schema}.{name}") for name in MODELS}


def test_a_clone_goes_on_by_itself_and_says_when_its_files_are_gone(
    cloned: tuple[Lake, Path, list[str]],
) -> None:
    project, state, said = cloned
    before = all_rows(project, "silver")
    assert all_rows(project, "dev_silver") == before
    days = {"parcels_seen": 7, "parcels_current": 7, "current_daily": 30, "current_by_weight": 7}
    today = dt.datetime.now(dt.UTC).date()
    assert said == sorted(
        f"dev_silver.{name}: shares files with silver.{name}, of which VACUUM may remove some from "
        f"{today + dt.timedelta(days)} on: clone again by then"
        for name, days in days.items()
    )

    # What reads bronze goes on; what reads a clone reads it whole once.
    messages = {name: result.message for name, result in project.build().items()}
    assert messages["parcels_seen"] == messages["parcels_current"] == "nothing new"
    assert messages["current_daily"] == messages["current_by_weight"] == "OK"

    # What VACUUM takes away is said where a build misses it, and the clone can be made again.
    spark = project.spark
    spark.sql("update silver.parcels_current set weight = 0")
    check = "spark.databricks.delta.retentionDurationCheck.enabled"
    spark.conf.set(check, "false")
    spark.sql("vacuum silver.parcels_current retain 0 hours")
    spark.conf.set(check, "true")
    project.land("moved__parcels", [parcel(8, "b", DAY, 8)])
    answer = project.dbt("build", "--select", "parcels_current")
    line = refusals(answer)["parcels_current"]
    assert re.fullmatch(
        r"STORAGE: file:/.* lake0/.*/silver/parcels_current/part-\S+\.parquet is gone, but a table "
        r"still names it: VACUUM has removed it\. If the table is a shallow clone, clone it again "
        r"\(dbt clone --full-refresh\); else build it again \(--full-refresh\)",
        line,
    ), line
    clone(project, state, "--full-refresh")

    project.land("moved__parcels", [parcel(6, "c", DAY, 7), parcel(7, "a", DAY, 7, op="D")])
    messages = {name: result.message for name, result in project.build().items()}
    assert messages["parcels_current"] == "2 upserted, 1 deleted"
    mine = all_rows(project, "dev_silver")
    assert len(mine["parcels_seen"]) == 7
    assert project.rows("dev_silver.current_daily", "weight", "parcels") == [(15, 2)]
    project.build(full_refresh=True)
    assert all_rows(project, "dev_silver") == mine

    # Cloned again, it goes on from what it is a clone of, not from where it was before; and has its
    # columns.
    spark.sql("alter table dev_silver.parcels_seen add column more int")
    clone(project, state, "--full-refresh")
    assert all_rows(project, "dev_silver") == all_rows(project, "silver")
    project.build()
    assert all_rows(project, "dev_silver") == mine

    # Readers that are deferred follow the original.
    readers = ("current_daily", "current_by_weight")
    deferred = ("build", "--select", *readers, "--defer", "--favor-state", "--state", str(state))
    with environment(PARCELS_PREFIX=""):
        project.build(full_refresh=True)
    assert project.dbt(*deferred).success
    with environment(PARCELS_PREFIX=""):
        project.land("moved__parcels", [parcel(9, "c", DAY, 7, op="D")])
        project.build()
    assert project.dbt(*deferred).success
    for name in readers:
        assert project.rows(f"dev_silver.{name}") == project.rows(f"silver.{name}")
