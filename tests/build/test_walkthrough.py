"""The README's walk-through, file by file and command by command, as a newcomer would do it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from demo.lake import Lake

ROOT = Path(__file__).resolve().parent.parent.parent
SAMPLE = ROOT / "docs" / "examples" / "github-webhooks" / "2026-11-01.jsonl"
# What a clone holds and the walk-through needs.
COPIED = ("dbt_project.yml", "profiles.yml", "docs", "macros", "models", "seeds", "tests/dbt")
# A fenced block, and the file that the line above it names, if any.
BLOCK = re.compile(
    r"(?:`(?P<file>[\w./]+)`:\n\n)?```(?P<language>\w+)\n(?P<text>.*?)```\n", re.DOTALL
)

# Six commands that build, each a process.
pytestmark = pytest.mark.long


@dataclass(frozen=True, slots=True)
class Step:
    """A file to write, or commands to run."""

    file: str | None
    text: str


@dataclass(frozen=True, slots=True)
class Walked:
    """A copy of the project after the walk-through, and what its commands printed."""

    project: Path
    output: str

    def rows(self, table: str, columns: str = "*") -> list[dict[str, Any]]:
        """Rows of a table, read without Spark."""
        return Lake(str(self.project / "lake")).rows(f"select {columns} from this", table)

    def artifact(self, name: str) -> Any:
        """One of dbt's artifacts."""
        return json.loads((self.project / "target" / name).read_text(encoding="utf-8"))


def steps(readme: str) -> list[Step]:
    """What the walk-through tells its reader to write and to type, in order."""
    text = readme.split("\n## Bring your own\n", 1)[1].split("\n## ", 1)[0]
    found = [Step(match["file"], match["text"]) for match in BLOCK.finditer(text)]
    assert all(step.file or step.text.count("ingest ") for step in found)
    return found


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory) -> Walked:
    """A copy of the project in which the walk-through has been done."""
    project = tmp_path_factory.mktemp("a clone") / "head water"
    project.mkdir()
    for name in COPIED:
        source, target = ROOT / name, project / name
        if source.is_dir():
            shutil.copytree(source, target)
        else:
            shutil.copyfile(source, target)
    (project / ".venv").symlink_to(sys.prefix)
    (project / ".jars").symlink_to(ROOT / ".jars")
    output = []
    for step in steps((ROOT / "README.md").read_text(encoding="utf-8")):
        if step.file:
            path = project / step.file
            assert not path.exists(), "the walk-through writes files of its own"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(step.text, encoding="utf-8")
        else:
            output.append(typed(". .venv/bin/activate\n" + step.text, project))
    return Walked(project, "\n".join(output))


def typed(commands: str, folder: Path) -> str:
    """What commands print in a shell that knows nothing of this test's lake."""
    places = ("HEADWATER_LAKE", "HEADWATER_LANDING")
    environ = {name: value for name, value in os.environ.items() if name not in places}
    ended = subprocess.run(
        ["bash", "-e", "-c", commands],
        cwd=folder,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, f"{commands}\n{ended.stdout}\n{ended.stderr}"
    return ended.stdout


def test_every_line_of_the_sample_lands(walked: Walked) -> None:
    sent = [json.loads(line) for line in SAMPLE.read_text(encoding="utf-8").splitlines()]
    landed = walked.rows("bronze.github__webhooks", "id, _event_type, _event_date, _rescued")
    assert sorted(row["id"] for row in landed) == sorted(event["id"] for event in sent)
    assert {row["_event_type"] for row in landed} == {event["type"] for event in sent}
    assert {str(row["_event_date"]) for row in landed} == {event["time"][:10] for event in sent}
    assert not [row for row in landed if row["_rescued"]]
    assert walked.rows("bronze.github__webhooks__quarantine") == []


def test_silver_and_gold_hold_what_the_events_say(walked: Walked) -> None:
    repositories = [
        json.loads(line)["data"].get("repository", {}).get("full_name")
        for line in SAMPLE.read_text(encoding="utf-8").splitlines()
    ]
    silver = walked.rows("silver.webhook_events")
    assert sorted(row["repository"] or "" for row in silver) == sorted(
        name or "" for name in repositories
    )
    gold = walked.rows("gold.agg_repository_activity_daily")
    assert {row["repository"]: row["event_count"] for row in gold} == {
        name: repositories.count(name) for name in repositories if name
    }
    assert "Codertocat/Hello-World" in walked.output


def test_a_type_of_event_has_a_table_and_models(walked: Walked) -> None:
    sent = [json.loads(line) for line in SAMPLE.read_text(encoding="utf-8").splitlines()]
    pushes = [event for event in sent if event["type"] == "com.github.push"]
    found = walked.rows("silver.com_github_push_events", "event_id, ref")
    assert {(row["event_id"], row["ref"]) for row in found} == {
        (event["id"], event["data"]["ref"]) for event in pushes
    }
    assert pushes[0]["data"]["pusher"]["name"] in walked.output
    manifest, table = walked.artifact("manifest.json"), "bronze_github.com_github_push"
    assert manifest["parent_map"][f"source.headwater.{table}"] == [
        "source.headwater.github.webhooks"
    ]
    assert (
        f"source.headwater.{table}"
        in manifest["parent_map"]["model.headwater.stg_github__com_github_push"]
    )


def test_the_last_page_shows_lineage_from_the_stream_to_gold(walked: Walked) -> None:
    manifest = walked.artifact("manifest.json")
    silver = "model.headwater.webhook_events"
    assert manifest["parent_map"][silver] == ["source.headwater.github.webhooks"]
    assert manifest["parent_map"]["model.headwater.agg_repository_activity_daily"] == [silver]
    columns = walked.artifact("catalog.json")["nodes"][silver]["columns"]
    assert {"event_id", "event_type", "repository"} <= set(columns)
    page = (walked.project / "target" / "static_index.html").read_text(encoding="utf-8")
    assert "agg_repository_activity_daily" in page


def test_its_tests_run_and_pass(walked: Walked) -> None:
    passed = re.findall(r"PASS (?P<name>\w+?(?:webhook_events|agg_repository)\w*) ", walked.output)
    assert len(passed) == 5
    assert "ERROR=0" in walked.output
