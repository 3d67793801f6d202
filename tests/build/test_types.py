"""Tables of types of events in dbt: made before models run, read by models, cheap when known."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ingest.cli.scaffold import write
from ingest.event_types import ops_table
from tests.build.events import EventProject, event_project
from tests.build.lake import Lake
from tests.build.test_catalog import lose_the_catalog

PUSH = "com.github.push"
HOSTILE = ('it\'s "100%" new', "a\\b.${env:HOME}", "{{ x }} `; drop table", "naïve\nline")


@pytest.fixture(scope="module")
def shared_project(
    shared_lake: Lake, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[EventProject]:
    project = event_project(shared_lake, tmp_path_factory.mktemp("events"))
    yield project
    project.empty()


@pytest.fixture
def project(shared_project: EventProject) -> EventProject:
    """A project of which nothing has landed."""
    shared_project.empty()
    return shared_project


def test_a_type_is_a_table_before_models_run(project: EventProject) -> None:
    project.land((PUSH, {"ref": "main", "commits": 2}), (PUSH, {"ref": "dev", "commits": 1}))
    project.lake.build("source:github.events+", "--exclude", "misspelt_events")
    found = project.rows("select ref, commits, _batch_id from silver.push_events order by ref")
    assert [tuple(row) for row in found] == [("dev", 1, 0), ("main", 2, 0)]

    project.land((PUSH, {"ref": "dev", "commits": 4}))
    results = project.lake.build("push_events")
    assert "_batch_id > 0" in results["push_events"].node.compiled_code
    assert len(project.rows("select * from silver.push_events")) == 3
    assert project.lake.build("push_events")["push_events"].message == "nothing new"


def test_only_files_of_new_batches_are_read(project: EventProject) -> None:
    project.land((PUSH, {"ref": "main"}))
    project.lake.build("stg_github__pushes")
    query = "select * from silver.stg_github__pushes where _batch_id > 0"
    plan = project.rows(f"explain formatted {query}")[0][0]
    assert "GreaterThan(_batch_id,0)" in plan
    assert "EqualTo(_event_type,com.github.push)" in plan


def test_names_of_types_and_attributes_may_be_anything(project: EventProject) -> None:
    project.land(*[(kind, {kind: kind, "percent": "100%s"}) for kind in HOSTILE])
    project.lake.build("funnel_steps")
    known = {one.event_type: one for one in ops_table.registered(project.folders)}
    assert set(known) == set(HOSTILE)
    for kind in HOSTILE:
        row = project.rows(f"select * from {known[kind].name}")[0].asDict()
        assert row["_event_type"] == kind
        assert row["percent"] == "100%s"
        assert kind in row.values()


@pytest.mark.long
def test_a_table_is_made_again_only_when_its_type_changes(project: EventProject) -> None:
    project.land((PUSH, {"ref": "main"}), ("com.github.ping", {"zen": "a"}))
    project.lake.build("funnel_steps")
    mark(project, "com_github_push", "com_github_ping")
    project.lake.build("funnel_steps")
    assert marked(project) == {"com_github_push", "com_github_ping"}

    project.land((PUSH, {"ref": "main", "forced": True}))
    project.lake.build("funnel_steps")
    assert marked(project) == {"com_github_ping"}
    assert "forced" in project.lake.spark.table("bronze_github.com_github_push").columns


@pytest.mark.long
def test_lost_catalog_gets_all_types_again(project: EventProject) -> None:
    project.land((PUSH, {"ref": "main"}))
    project.lake.build("source:github.events+", "--exclude", "misspelt_events")
    project.lake.spark.sql("drop schema bronze_github cascade")
    project.lake.build("funnel_steps")
    assert len(project.rows("select * from bronze_github.com_github_push")) == 1

    project.lake.spark.sql("drop schema bronze_github cascade")
    lose_the_catalog(project.lake)
    results = project.lake.build("source:github.events+", "--exclude", "misspelt_events")
    assert results["push_events"].message == "nothing new"
    assert len(project.rows("select * from bronze_github.com_github_push")) == 1


def test_commands_that_build_nothing_know_models_of_types_before_the_first_build(
    project: EventProject,
) -> None:
    project.land((PUSH, {"ref": "main"}))
    assert not project.lake.spark.catalog.tableExists("bronze.github__events")
    answer = project.lake.dbt("compile", "--select", "source:github.events+")
    assert answer.exception is None
    assert answer.success


@pytest.mark.long
def test_a_type_that_has_not_come_yet_is_an_empty_table(project: EventProject) -> None:
    models = ("source:github.events+", "--exclude", "misspelt_events")
    project.lake.build(*models)
    assert project.rows("select * from silver.push_events") == []
    kinds = dict(project.lake.spark.table("bronze.github__events").dtypes)
    assert (kinds["data"], kinds["time"]) == ("variant", "timestamp")

    project.land(("com.github.ping", {"zen": "a"}))
    project.lake.build(*models)
    assert project.rows("select * from silver.push_events") == []
    project.land((PUSH, {"ref": "main", "commits": 2, "size": 1}))
    # The view below it is an older one: it shows the type's events all the same.
    project.lake.build("push_events")
    assert [tuple(row)[1:3] for row in project.rows("select * from silver.push_events")] == [
        ("main", 2)
    ]
    results = project.lake.build(*models)
    assert "bronze_github.com_github_push" in results["stg_github__pushes"].node.compiled_code


def test_a_misspelt_type_ends_in_a_line_that_names_the_nearest(project: EventProject) -> None:
    project.land((PUSH, {"ref": "main"}), ("com.github.ping", {"zen": "a"}))
    answer = project.lake.dbt("run", "--select", "misspelt_events")
    assert not answer.success
    assert answer.exception is None
    results: Any = answer.result
    message = {result.node.name: result.message for result in results}["misspelt_events"]
    assert 'has no event of type "com.github.pusch"; nearest: com.github.push' in message


@pytest.mark.long
def test_columns_that_land_next_break_nothing(project: EventProject) -> None:
    """A type is written down before its batch has landed, and a build may look in between."""
    models = ("source:github.events+", "--exclude", "misspelt_events")
    project.land((PUSH, {"ref": "main"}))
    project.lake.build(*models)
    project.land((PUSH, {"ref": "dev"}))
    known = ops_table.registered(project.folders)
    ahead = [
        replace(
            one,
            query=one.query.replace("`subject`", "`subject`,\n    `priority`"),
            changed_at=datetime.now(UTC),
        )
        for one in known
    ]
    ops_table.replace_types(project.folders, "github.events", ahead)
    project.lake.build(*models)
    assert len(project.rows("select * from silver.push_events")) == 1, "not beyond the views"

    project.land((PUSH, {"ref": "new"}), priority="high")
    project.lake.build(*models)
    assert len(project.rows("select * from silver.push_events")) == 3
    assert "priority" in project.lake.spark.table("bronze_github.com_github_push").columns


@pytest.mark.long
def test_types_of_a_table_that_is_not_there_break_nothing(project: EventProject) -> None:
    project.land((PUSH, {"ref": "main"}))
    gone = [
        replace(
            one,
            stream="github.gone",
            table_name="gone",
            bronze_table="bronze.github__gone",
            query=one.query.replace("github__events", "github__gone"),
        )
        for one in ops_table.registered(project.folders)
    ]
    ops_table.replace_types(project.folders, "github.gone", gone)
    project.lake.build("source:github.events+", "--exclude", "misspelt_events")
    assert len(project.rows("select * from silver.push_events")) == 1


@pytest.mark.long
def test_models_that_were_scaffolded_build_at_once(
    project: EventProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = HOSTILE[0]
    attributes = {"order": 1, "naïve": "a", "a b": [{"c": 1.5}], "event_type": "b"}
    project.land((kind, attributes), (kind, attributes))
    monkeypatch.chdir(project.lake.project)
    files = write(kind, None)
    try:
        table = Path(files[1][0]).stem
        results = project.lake.build(f"+{table}", tests=True)
        assert {str(result.status) for result in results.values()} == {"success", "pass"}
        assert len(results) > 4, "its tests, too"
        assert len(project.rows(f"select `order`, `naïve`, a_b from silver.{table}")) == 2

        project.empty()
        project.lake.build(f"+{table}", tests=True)
        assert project.rows(f"select * from silver.{table}") == []
    finally:
        for name, _ in files:
            Path(name).unlink()


@pytest.mark.long
def test_a_model_reads_a_types_own_table_as_far_as_it_is_filled(project: EventProject) -> None:
    models = ("source:github.events+", "--exclude", "misspelt_events")
    ping = "com.github.ping"
    project.declare(per_type="tables")
    try:
        project.land((PUSH, {"ref": "main"}), (ping, {"zen": "a"}))
        project.lake.build(*models)
        assert refs(project) == ["main"], "its table holds nothing yet: a view of bronze"
        project.fill()
        assert project.lake.build(*models)["push_events"].message == "nothing new"
        files = project.lake.spark.table("bronze_github.com_github_push").inputFiles()
        assert {Path(file).parent.name for file in files} == {"com_github_push"}

        project.land((PUSH, {"ref": "dev", "forced": True}), (ping, {"zen": "b"}))
        assert project.lake.build(*models)["push_events"].message == "nothing new"
        project.fill()
        behind(project, ping)
        # Nobody says which type the model reads, so all types count.
        assert project.lake.build(*models)["push_events"].message == "nothing new"
        assert "forced" in project.lake.spark.table("bronze_github.com_github_push").columns
        model = project.lake.project / "models" / "silver" / "github" / "push_events.sql"
        text = model.read_text(encoding="utf-8")
        told = text.replace("'events')) }}", f"'events'), event_type='{PUSH}') }}}}")
        model.write_text(told, encoding="utf-8")
        project.lake.build(*models)
        assert refs(project) == ["dev", "main"]
        model.write_text(text, encoding="utf-8")
    finally:
        project.declare(per_type="views")


def refs(project: EventProject) -> list[str]:
    """What `push_events` has."""
    return [row.ref for row in project.rows("select ref from silver.push_events order by ref")]


def behind(project: EventProject, event_type: str) -> None:
    """Make a type's table one that is filled up to an older batch."""
    known = [
        replace(one, filled_batch_id=0) if one.event_type == event_type else one
        for one in ops_table.registered(project.folders)
    ]
    ops_table.replace_types(project.folders, "github.events", known)


def mark(project: EventProject, *tables: str) -> None:
    """Leave something on views that a new view would not have."""
    for table in tables:
        project.lake.spark.sql(
            f"alter view bronze_github.{table} set tblproperties ('seen' = 'yes')"
        )


def marked(project: EventProject) -> set[str]:
    """Views that have not been made again since they were marked."""
    return {
        row["viewName"]
        for row in project.rows("show views in bronze_github")
        if not row["isTemporary"]
        and (
            project.rows(f"show tblproperties bronze_github.{row['viewName']} ('seen')")[0]["value"]
            == "yes"
        )
    }
