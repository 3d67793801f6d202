"""Trials without Spark: what is built, where, by which keys, and what is refused."""

from __future__ import annotations

import os
import textwrap
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import pytest
import typer
from dbt.artifacts.schemas.batch_results import BatchResults
from dbt.cli.main import dbtRunner

from ingest import cli, settings
from ingest.cli.fuzz import run as run_fuzz
from ingest.errors import InputError, TerminalError
from ingest.storage.layout import Lake
from ingest.storage.storage import LeaseLost
from ingest.trials.fitting import fit_for_trials
from ingest.trials.frames import shown_columns
from ingest.trials.fuzz import Equal, Failed, NoRows
from ingest.trials.inputs import inputs_of_all, inputs_of_named
from ingest.trials.project_tables import ProjectTables
from ingest.trials.scratch import Scratch, place_of_trials, why_not_built

ROOT: Final = Path(__file__).resolve().parent.parent.parent
PARCELS: Final = "select * from {{ source('moved', 'parcels') }}"
CHANGES: Final = "materialized = 'apply_changes', keys = ['parcel'], sequence_by = ['seq']"
PROJECT: Final = {
    "dbt_project.yml": "{name: small, profile: headwater}",
    "seeds/lines.csv": "line\n1\n",
    "models/models.yml": """
        version: 2
        sources:
          - name: moved
            schema: bronze
            tables: [{name: parcels, identifier: moved__parcels}]
        models:
          - {name: dim, latest_version: 2, versions: [{v: 1}, {v: 2}]}
        snapshots:
          - name: kept
            relation: ref('placed')
            config: {strategy: check, unique_key: parcel, check_cols: all}
        exposures:
          - name: board
            type: dashboard
            owner: {name: Ana}
            depends_on: ["ref('dim', v=1)", "ref('dim', v=2)"]
    """,
    "models/placed.sql": "{{ config(materialized = 'incremental', full_refresh = false, "
    "location_root = '/real', options = {'path': '/real/placed', 'mergeSchema': 'true'}) }}"
    + PARCELS,
    "models/at_a_path.sql": "{{ config(options = {'Path': '/real/a'}) }} select 1 as one",
    "models/dim_v1.sql": "{{ config(materialized = 'incremental') }}" + PARCELS,
    "models/dim_v2.sql": "{{ config(materialized = 'incremental') }}" + PARCELS,
    "models/below_kept.sql": "{{ config(materialized = 'incremental') }} "
    "select * from {{ ref('kept') }}",
    "models/current.sql": f"{{{{ config({CHANGES}) }}}}" + PARCELS,
    "models/versions.sql": f"{{{{ config({CHANGES}, stored_as_scd_type = 2) }}}}" + PARCELS,
    "models/named_versions.sql": f"{{{{ config({CHANGES}, meta = {{'stored_as_scd_type': '2', "
    "'start_column': 'valid_from'}) }}" + PARCELS,
}


@pytest.fixture(scope="module")
def manifest(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A project with one of each, as dbt parses it where it writes no files of JSON."""
    root = tmp_path_factory.mktemp("project")
    for name, text in PROJECT.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(textwrap.dedent(text), encoding="utf-8")
    folders = ("--project-dir", str(root), "--profiles-dir", str(ROOT))
    quiet = ("--log-path", str(root), "--log-level", "none", "--quiet", "--no-write-json")
    answer = dbtRunner().invoke(["parse", *folders, *quiet])
    assert answer.success, answer.exception
    fit_for_trials(answer.result)
    return answer.result


def config_of(manifest: Any, unique_id: str) -> Any:
    return manifest.nodes[unique_id].config


def test_a_table_that_is_placed_elsewhere_is_built_in_the_trials_lake(manifest: Any) -> None:
    placed = config_of(manifest, "model.small.placed")
    assert placed.get("location_root") is None
    assert placed["options"] == {"mergeSchema": "true"}
    assert config_of(manifest, "model.small.at_a_path")["options"] is None
    # Macros read it in `graph`, too.
    assert "location_root" not in manifest.flat_graph["nodes"]["model.small.placed"]["config"]


def test_a_model_that_is_never_refreshed_is_refreshed_in_trials(manifest: Any) -> None:
    assert config_of(manifest, "model.small.placed").full_refresh is None


def test_snapshots_are_delta_in_trials(manifest: Any) -> None:
    assert config_of(manifest, "snapshot.small.kept")["file_format"] == "delta"


def test_a_model_that_reads_a_snapshot_is_not_fuzzed(manifest: Any) -> None:
    with pytest.raises(InputError, match=r"^below_kept reads the snapshot kept, whose rows say"):
        inputs_of_named(manifest, ["below_kept"])
    assert "below_kept" not in [one.model for one in inputs_of_all(manifest)]


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (["dim"], ["dim.v1", "dim.v2"]),
        (["dim.v2"], ["dim.v2"]),
        (["dim.v2", "dim"], ["dim.v2", "dim.v1"]),
    ],
)
def test_versions_of_a_model_are_fuzzed_together_or_alone(
    manifest: Any, names: list[str], found: list[str]
) -> None:
    inputs = inputs_of_named(manifest, names)
    assert [one.model for one in inputs] == found
    assert [one.kept for one in inputs] == [[f"silver.{one.replace('.', '_')}"] for one in found]


def test_an_exposure_names_the_versions_that_change(manifest: Any) -> None:
    tables = ProjectTables(manifest)
    assert tables.exposures({"model.small.dim.v2"}) == {"board": ["dim.v2"]}


@pytest.mark.parametrize(
    ("model", "key"),
    [
        ("current", ["parcel"]),
        ("versions", ["parcel", "__START_AT"]),
        ("named_versions", ["parcel", "valid_from"]),
    ],
)
def test_a_version_is_found_by_its_start(manifest: Any, model: str, key: list[str]) -> None:
    assert ProjectTables(manifest).key(f"model.small.{model}") == key


def test_validity_of_versions_is_compared() -> None:
    frame: Any = SimpleNamespace(columns=["id", "__START_AT", "__END_AT", "_batch_id"])
    assert shown_columns(frame) == ["id", "__START_AT", "__END_AT"]


@pytest.mark.parametrize(
    ("lake", "place"),
    [
        ("/data/lake", "/project/target/check/lake"),
        ("file:///data/lake", "/project/target/check/lake"),
        ("s3a://bucket/lake", "s3a://bucket/lake_check"),
        ("s3a://bucket", "s3a://bucket/_check"),
        ("abfss://container@account", "abfss://container@account/_check"),
    ],
)
def test_a_trials_lake_is_in_the_project_or_in_the_same_bucket(lake: str, place: str) -> None:
    assert place_of_trials(lake, "check", "/project") == place


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project with a lake."""
    (tmp_path / "dbt_project.yml").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HEADWATER_LAKE", str(tmp_path / "lake"))
    return tmp_path


def test_two_trials_at_once_are_refused_by_the_name_of_the_first(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Scratch.beside("check") as scratch:
        assert settings.lake() == scratch.lake.root
        monkeypatch.setenv("HEADWATER_LAKE", str(project / "lake"))
        with pytest.raises(InputError) as refused, Scratch.beside("check"):
            pass
        assert str(refused.value).startswith(f"process {os.getpid()} on ")
        assert f" uses {project}/target/check/lake for a trial" in str(refused.value)
        monkeypatch.setenv("HEADWATER_LAKE", str(project / "lake"))
        with Scratch.beside("fuzz"):
            pass
    assert not Lake(scratch.lake.root).storage.is_leased("_locks/trial.lock")


def test_a_trial_stops_once_another_has_its_lake() -> None:
    class Lost:
        def check(self) -> None:
            raise LeaseLost("process 1 on a-host")

    lake = Lake("s3a://bucket/_check")
    scratch = Scratch("check", "/project", Lake("s3a://bucket"), lake, Lost())
    with pytest.raises(TerminalError, match=r"^process 1 on a-host uses s3a://bucket/_check "):
        scratch.check_lease()


def day(number: int) -> tuple[datetime, datetime]:
    """A batch of a microbatch model."""
    return datetime(2026, 3, number, tzinfo=UTC), datetime(2026, 3, number + 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("status", "batches", "reason"),
    [
        ("success", None, None),
        ("skipped", None, None),
        ("error", None, "no such column"),
        (
            "partial success",
            BatchResults(successful=[day(1), day(2)], failed=[day(4), day(3)]),
            "2 of 4 batches, the first of 2026-03-03 00:00: too heavy",
        ),
        (
            "error",
            BatchResults(failed=[day(1)]),
            "1 of 1 batches, the first of 2026-03-01 00:00: too heavy",
        ),
    ],
)
def test_a_model_of_which_batches_fail_is_not_built(
    status: str, batches: BatchResults | None, reason: str | None
) -> None:
    node = SimpleNamespace(unique_id="model.small.daily")
    result = SimpleNamespace(
        status=status, message="no such column", node=node, batch_results=batches
    )
    # What dbt says of a batch.
    said = "Exception on worker thread. Runtime Error in model daily (daily.sql)\n  too heavy"
    assert why_not_built(result, {node.unique_id: said} if batches else {}) == reason


@pytest.mark.parametrize(
    ("options", "refusal"),
    [
        ({"data": "3d", "json": True}, "leave out --select, --exclude and --json"),
        ({"data": "3d", "select": ["a"]}, "leave out --select, --exclude and --json"),
        ({"data": "3d", "exclude": ["a"]}, "leave out --select, --exclude and --json"),
        ({"markdown": True}, "--markdown needs --data"),
    ],
)
def test_options_that_a_check_would_ignore_are_refused(
    options: dict[str, Any], refusal: str
) -> None:
    with pytest.raises(InputError, match=refusal):
        cli.check(against="HEAD", **options)


FAILED: Final = Failed(3, "daily was not built: too heavy")
EQUAL: Final = Equal(2)
NO_ROWS: Final = NoRows(["moved__parcels"])


@pytest.mark.parametrize(
    ("named", "found", "code"),
    [
        ([], {"daily": EQUAL}, 0),
        ([], {"daily": EQUAL, "rare": NO_ROWS}, 0),
        ([], {"daily": FAILED, "rare": NO_ROWS}, 1),
        (["daily"], {"daily": EQUAL}, 0),
        (["daily", "rare"], {"daily": EQUAL, "rare": NO_ROWS}, 2),
        (["daily", "rare"], {"daily": FAILED, "rare": NO_ROWS}, 1),
    ],
)
def test_a_model_without_rows_ends_a_run_only_where_it_is_named(
    named: list[str],
    found: dict[str, Any],
    code: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("ingest.cli.fuzz.tried", lambda *_: iter(found.items()))
    try:
        run_fuzz(named, 5, 1)
        ended = 0
    except typer.Exit as end:
        ended = end.exit_code
    assert ended == code
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == list(found)
    if found["daily"] is EQUAL:
        assert lines[0] == "daily: 5 cases, 2 with rows; increments equal a full refresh in each"
    if "rare" in found:
        assert lines[-1] == (
            "rare: had no rows in any case: nothing was compared; see what is selected of "
            "moved__parcels, or try more --cases"
        )
