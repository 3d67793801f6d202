"""Where things are is read in one place, the same from any folder of the project."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ingest import settings
from ingest.errors import InputError, ProjectUnreadable
from ingest.storage.layout import Lake


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project, with a folder in it where a person stands."""
    for name in ("LAKE", "LANDING", "DRIVER_MEMORY", "JAVA_OPTIONS"):
        monkeypatch.delenv(f"HEADWATER_{name}", raising=False)
    root = tmp_path / "a project"
    (root / "models" / "gold").mkdir(parents=True)
    (root / "dbt_project.yml").touch()
    monkeypatch.chdir(root / "models" / "gold")
    return root


def test_the_project_is_found_from_below(project: Path) -> None:
    assert settings.project_dir() == project
    assert settings.lake() == str(project / "lake")
    assert settings.landing() == str(project / "landing")
    assert settings.driver_memory() == "2g"
    assert settings.java_options() == ""


def test_private_parts_of_spark_are_on_or_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HEADWATER_SPARK_INTERNALS", raising=False)
    assert settings.uses_spark_internals()
    monkeypatch.setenv("HEADWATER_SPARK_INTERNALS", "off")
    assert not settings.uses_spark_internals()
    monkeypatch.setenv("HEADWATER_SPARK_INTERNALS", "no")
    with pytest.raises(InputError, match="HEADWATER_SPARK_INTERNALS=no: allowed are on and off"):
        settings.uses_spark_internals()


@pytest.mark.parametrize("declared", ["256m", "2", "lots", "0g"])
def test_a_heap_that_spark_does_not_start_with_is_refused(
    declared: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADWATER_DRIVER_MEMORY", declared)
    with pytest.raises(InputError, match=f"HEADWATER_DRIVER_MEMORY={declared}: Spark needs 512m"):
        settings.driver_memory()
    monkeypatch.setenv("HEADWATER_DRIVER_MEMORY", "1G")
    assert settings.driver_memory() == "1G"


def test_the_writer_of_bronze_is_auto_or_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HEADWATER_BRONZE_WRITER", raising=False)
    assert settings.has_arrow_writer()
    monkeypatch.setenv("HEADWATER_BRONZE_WRITER", "spark")
    assert not settings.has_arrow_writer()
    monkeypatch.setenv("HEADWATER_BRONZE_WRITER", "arrow")
    with pytest.raises(InputError, match="allowed are auto and spark"):
        settings.has_arrow_writer()


def test_missing_project_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ProjectUnreadable, match=r"no dbt_project.yml") as told:
        settings.project_dir()
    assert told.value.exit_code == 2


def test_places_may_be_relative_absolute_or_elsewhere(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADWATER_LAKE", "other/lake")
    assert settings.lake() == str(project / "other" / "lake")
    monkeypatch.setenv("HEADWATER_LAKE", "s3a://bucket/lake")
    assert settings.lake() == "s3a://bucket/lake"
    # Spark knows this name of S3 alone, and a slash at the end would be doubled.
    monkeypatch.setenv("HEADWATER_LAKE", "s3://bucket/lake/")
    assert settings.lake() == "s3a://bucket/lake"
    monkeypatch.setenv("HEADWATER_LANDING", "")
    assert settings.landing() == str(project / "landing")


def test_a_table_lies_at_schema_and_name() -> None:
    lake = Lake("/lake")
    assert lake.bronze("shop__orders") == lake.table("bronze", "shop__orders")
    assert lake.ops("stream_tables") == "/lake/ops/stream_tables"


def test_a_folder_is_a_table_once_it_has_a_log(tmp_path: Path) -> None:
    lake = Lake(str(tmp_path))
    assert not lake.is_table(lake.bronze("a"))
    log = Path(lake.bronze("a"), "_delta_log")
    log.mkdir(parents=True)
    assert not lake.is_table(lake.bronze("a"))
    (log / "00000000000000000000.json").touch()
    assert lake.is_table(lake.bronze("a"))


def test_the_command_answers_help_without_loading_what_it_runs() -> None:
    program = (
        "import sys; from typer.testing import CliRunner; from ingest.cli import app; "
        "assert CliRunner().invoke(app, ['--help']).exit_code == 0; "
        "print(sorted({'pyspark', 'dbt', 'pyarrow', 'delta'} & set(sys.modules)))"
    )
    answer = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert answer.stdout == "[]\n"
