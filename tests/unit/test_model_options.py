"""Which options of dbt models are read, and which are refused, with the nearest one or why."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from dbt.artifacts.resources.v1.components import ColumnInfo
from dbt.artifacts.resources.v1.config import TestConfig
from dbt.artifacts.resources.v1.model import ModelConfig
from dbt.artifacts.resources.v1.snapshot import SnapshotConfig
from dbt.cli.main import dbtRunner
from dbt.jsonschemas import jsonschemas

from ingest.errors import OptionsRefused
from ingest.model_options.checks import check_options
from ingest.model_options.known import OURS

ROOT = Path(__file__).resolve().parent.parent.parent
MERGE = {"materialized": "incremental", "incremental_strategy": "merge", "unique_key": "id"}
OWN = SimpleNamespace(name="model_option", package_name="headwater", macro_sql="")
DELETE = {"when": "matched", "condition": "a", "then": "delete"}
INSERT = {"when": "not_matched", "then": "insert"}


def node(config: Any, name: str = "m", code: str = "", column: Any = None, **more: Any) -> Any:
    """A model of a manifest."""
    return SimpleNamespace(
        name=name,
        resource_type=more.get("kind", "model"),
        raw_code=code,
        columns={} if column is None else {column.name: column},
        config=config,
    )


def problems(*nodes: Any, macros: Any = (OWN,)) -> list[str]:
    """What is refused of a project."""
    manifest = SimpleNamespace(
        nodes=dict(enumerate(nodes)),
        macros=dict(enumerate(macros)),
        build_flat_graph=lambda: None,
    )
    try:
        check_options(manifest)  # type: ignore[arg-type]
    except OptionsRefused as error:
        return list(error.problems)
    return []


def refused(config: dict[str, Any], **more: Any) -> list[str]:
    """What is refused of a model with this configuration."""
    return [
        text.removeprefix("m: ") for text in problems(node(ModelConfig.from_dict(config), **more))
    ]


@pytest.mark.parametrize(
    ("config", "text"),
    [
        (
            {"liquid_clusterd_by": "id"},
            "nothing reads the option liquid_clusterd_by; did you mean liquid_clustered_by?",
        ),
        ({"snowflake_warehouse": "x"}, "nothing reads the option snowflake_warehouse"),
        ({"zorder": "id"}, "zorder: builds run no OPTIMIZE; use liquid_clustered_by"),
        ({"http_path": "x"}, "http_path: it configures a job of Databricks; remove it"),
        ({"grants": {"select": ["x"]}}, "grants: Spark has none outside of Databricks"),
        ({"materialized": "materialized_view"}, "materialized: materialized_view: Spark has none"),
        ({"materialized": "streaming_table"}, "materialized: streaming_table: Spark has none"),
        (
            {"on_schema_change": "append"},
            "on_schema_change is append_new_columns, fail, ignore, sync_all_columns, not append",
        ),
        ({**MERGE, "meta": {"merge_bound": "id"}}, "nothing reads meta.merge_bound; did you mean"),
        (
            {"materialized": "apply_changes", "keys": ["a"], "meta": {"keys": ["b"]}},
            "keys is in config and in its meta, with different values",
        ),
        ({**MERGE, "keys": ["a"]}, "keys is an option of materialized: apply_changes, not of incr"),
        (
            {"materialized": "table", "matched_condition": "a"},
            "matched_condition is an option of materialized: incremental, not of table",
        ),
        (
            {"materialized": "view", "matched_condition": "a"},
            "matched_condition is an option of materialized: incremental, not of view",
        ),
        (
            {"materialized": "ephemeral", "keys": ["a"]},
            "keys is an option of materialized: apply_changes, not of ephemeral",
        ),
        (
            {**MERGE, "incremental_strategy": None, "meta": {"merge": [INSERT]}},
            "merge needs incremental_strategy merge, not append",
        ),
        ({**MERGE, "unique_key": None, "skip_matched_step": True}, "skip_matched_step needs a uni"),
        (
            {**MERGE, "skip_matched_step": "true", "matched_condition": "a"},
            "matched_condition has no meaning where skip_matched_step is true",
        ),
        (
            {**MERGE, "skip_matched_step": True, "skip_not_matched_step": True},
            "skip_matched_step and skip_not_matched_step leave the merge nothing to do",
        ),
        (
            {**MERGE, "not_matched_by_source_condition": "a"},
            "not_matched_by_source_condition needs not_matched_by_source_action",
        ),
        (
            {**MERGE, "not_matched_by_source_action": "remove"},
            "not_matched_by_source_action is delete or update set …, not remove",
        ),
        (
            {**MERGE, "merge": [INSERT], "matched_condition": "a"},
            "matched_condition and merge exclude each other; write it as a clause of merge",
        ),
        ({**MERGE, "merge": {"when": "matched"}}, "merge is a list of clauses such as {when: mat"),
        (
            {**MERGE, "merge": [{"when": "matched", "do": "delete"}]},
            "a clause of merge has when, then and maybe condition, not {'when': 'matched', 'do'",
        ),
        (
            {**MERGE, "merge": [{"when": "matches", "then": "delete"}]},
            "when in merge is matched, not_matched, not_matched_by_source, not matches",
        ),
        (
            {**MERGE, "merge": [{"when": "not_matched", "then": "update"}]},
            "then of not_matched in merge is insert, not update",
        ),
        (
            {**MERGE, "merge": [{"when": "not_matched_by_source", "then": "update"}]},
            "then of not_matched_by_source in merge is delete or update set …, not update",
        ),
        (
            {**MERGE, "merge": [{"when": "matched", "then": "update"}, DELETE]},
            "only the last clause of merge for matched may have no condition",
        ),
        ({**MERGE, "merge": [DELETE, INSERT]}, "merge deletes matched rows: give its clause for"),
    ],
)  # fmt: skip
def test_option_without_meaning_is_refused(config: dict[str, Any], text: str) -> None:
    (found,) = refused(config)
    assert found.startswith(text)


@pytest.mark.parametrize(
    "config",
    [
        {**MERGE, "merge": [DELETE, {**INSERT, "condition": "not a"}]},
        {**MERGE, "merge": [{"when": "matched", "then": "update  set a = 1"}, INSERT]},
        {**MERGE, "not_matched_by_source_action": "DELETE", "source_alias": "new"},
        {**MERGE, "skip_matched_step": "false", "matched_condition": "a"},
        {"materialized": "apply_changes", "meta": {"keys": ["a"], "sequence_by": "b"}},
        {"databricks_tags": {"a": None}, "tblproperties": {}, "liquid_clustered_by": "id"},
        {"persist_docs": {"relation": True}, "sql_header": "set a = 1", "location_root": "x"},
        {"auto_liquid_cluster": False},
        {"materialized": "view", "start_column": "a"},
        {**MERGE, "meta": {"key": "a user's own", "owner": "me"}},
    ],
)
def test_option_that_is_read_is_accepted(config: dict[str, Any]) -> None:
    assert refused(config) == []


def test_option_that_the_model_or_a_package_reads_is_accepted() -> None:
    package = SimpleNamespace(
        name="of_a_package", package_name="utils", macro_sql="{{ config.get('theirs') }}"
    )
    config = ModelConfig.from_dict({"own": 1, "theirs": 2})
    model = node(config, code='{{ config.require("own") }}')
    assert problems(model, macros=(OWN, package)) == []
    assert problems(model) == ["m: nothing reads the option theirs"]


def test_option_of_a_test_that_nothing_reads_is_refused() -> None:
    test = node(TestConfig.from_dict({"severty": "warn"}), kind="test")
    assert problems(test) == ["m: nothing reads the option severty; did you mean severity?"]


def test_options_of_this_project_are_refused_where_its_macros_are_not() -> None:
    config = ModelConfig.from_dict({"matched_condition": "a"})
    assert problems(node(config), macros=())[0].startswith("m: nothing reads the option matched_c")


def test_tags_and_masks_of_columns_are_refused() -> None:
    column = ColumnInfo.from_dict({"name": "email", "column_mask": {"function": "hide"}})
    (found,) = refused({}, column=column)
    assert found.startswith("column email: column_mask: Spark has no column masks")


def test_models_with_the_same_mistake_share_a_line() -> None:
    config = ModelConfig.from_dict({"snowflake_warehouse": "x"})
    found = problems(*(node(config, name=name) for name in "abcde"))
    assert found == ["a, b, c and 2 more: nothing reads the option snowflake_warehouse"]


@pytest.mark.parametrize(("given", "stored"), [({}, "delta"), ({"file_format": "hudi"}, "hudi")])
def test_snapshots_are_stored_in_delta_unless_they_say_otherwise(
    given: dict[str, Any], stored: str
) -> None:
    config = SnapshotConfig.from_dict({"strategy": "check", "unique_key": "id", **given})
    assert problems(node(config, kind="snapshot")) == []
    assert config["file_format"] == stored


def test_macros_read_the_options_that_are_known() -> None:
    macros = [path.read_text("utf-8") for path in (ROOT / "macros").rglob("*.sql")]
    code = "\n".join(text for text in macros if "model_option(" in text)
    read = set(re.findall(r"model_option\(\s*'(\w+)'", code))
    assert read - OURS == {"skip_"}
    # Some are read in a loop over their names, or parts of names.
    assert OURS - read - set(re.findall(r"'(\w+)'", code)) == {
        *("skip_matched_step", "skip_not_matched_step", "matched_condition"),
        "not_matched_condition",
    }


def test_own_project_has_no_deprecated_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even where dbt checks keys, which it does for some adapters only."""
    supported = {*jsonschemas._JSONSCHEMA_SUPPORTED_ADAPTERS, "spark"}
    monkeypatch.setattr(jsonschemas, "_JSONSCHEMA_SUPPORTED_ADAPTERS", supported)
    found = []

    def note(event: Any) -> None:
        if "Deprecation" in event.info.name:
            found.append(event.info.msg)

    folders = ("--project-dir", str(ROOT), "--profiles-dir", str(ROOT))
    target = ("--target-path", str(tmp_path), "--log-path", str(tmp_path))
    quiet = ("--show-all-deprecations", "--log-level", "none", "--quiet")
    answer = dbtRunner(callbacks=[note]).invoke(["parse", *folders, *target, *quiet])
    assert answer.success, answer.exception
    assert found == []
