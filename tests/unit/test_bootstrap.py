"""Set-up: what it looks for, what it says, and that a half-done one is done again."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from ingest.spark.jvm_options import CLASSES
from ingest.spark.s3 import LOG_STORE_JAR
from scripts import bootstrap, classes, jars, java_sources
from scripts.bootstrap import SetupStopped, Step

ROOT = bootstrap.ROOT


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """The files of a clone that set-up reads, at a path with a space in it."""
    root = tmp_path / "a clone"
    for name in ("pyproject.toml", *bootstrap.LOCKS, *jars.SETS, *bootstrap.MADE_FROM):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, root / name)
    return root


def sh(script: str) -> Step:
    return Step(title="a step", commands=[["/bin/sh", "-c", script]])


ENVIRONMENTS = sh(
    "mkdir -p .venv/bin .venv/lib/python3.11/site-packages .venv-sqllint/bin;"
    "touch .venv/bin/python .venv-sqllint/bin/python;"
    + "".join(
        f"mkdir -p {folder}; touch "
        + " ".join(f"{folder}/{jar.filename}" for jar in jars.locked_jars(ROOT / lock))
        + ";"
        for lock, folder in jars.SETS.items()
    )
    + f"touch {LOG_STORE_JAR}"
)


def install(root: Path, *steps: Step) -> None:
    with bootstrap.only_one(root) as lock:
        bootstrap.install(root, steps, lock)


def test_a_fresh_clone_is_not_set_up(clone: Path) -> None:
    assert not bootstrap.is_current(clone)


def test_a_finished_set_up_is_not_done_again(clone: Path) -> None:
    install(clone, ENVIRONMENTS)
    assert bootstrap.is_current(clone)


@pytest.mark.parametrize("name", [*bootstrap.LOCKS, *jars.SETS, *bootstrap.MADE_FROM])
def test_another_lock_file_asks_for_another_set_up(clone: Path, name: str) -> None:
    install(clone, ENVIRONMENTS)
    with (clone / name).open("a") as file:
        file.write("# changed\n")
    assert not bootstrap.is_current(clone)


def test_every_java_source_is_among_what_a_set_up_is_made_from() -> None:
    sources = {
        str(path.relative_to(ROOT)) for path in (ROOT / java_sources.SOURCES).rglob("*.java")
    }
    assert sources <= set(bootstrap.MADE_FROM)


def test_set_up_goes_on_without_an_archive_of_classes(
    clone: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    archive = clone / CLASSES
    archive.parent.mkdir()
    archive.write_bytes(b"of other jars")
    monkeypatch.chdir(clone)
    monkeypatch.setenv("HEADWATER_JAVA_OPTIONS", "")
    monkeypatch.setattr(classes, "ROOT", clone)
    # There is no project in this clone, so Spark cannot start.
    assert classes.main() == 0
    assert capsys.readouterr().err.startswith("no archive of classes: ")
    assert not list(archive.parent.iterdir())


def test_a_clone_that_was_moved_is_set_up_again(clone: Path, tmp_path: Path) -> None:
    install(clone, ENVIRONMENTS)
    assert not bootstrap.is_current(clone.rename(tmp_path / "moved"))


@pytest.mark.parametrize("lost", [".venv/bin/python", ".venv-sqllint/bin/python", ".jars"])
def test_something_that_was_removed_is_made_again(clone: Path, lost: str) -> None:
    install(clone, ENVIRONMENTS)
    shutil.rmtree(clone / lost) if (clone / lost).is_dir() else (clone / lost).unlink()
    assert not bootstrap.is_current(clone)


def test_a_set_up_that_failed_half_way_is_done_again_from_the_start(clone: Path) -> None:
    with pytest.raises(SetupStopped, match=r"^the index is away") as told:
        install(clone, ENVIRONMENTS, sh("touch .venv/half; echo error: the index is away; exit 3"))
    assert told.value.exit_code == 1
    assert not bootstrap.is_current(clone)

    install(clone, ENVIRONMENTS)
    assert bootstrap.is_current(clone)
    assert not (clone / ".venv/half").exists()


def test_an_environment_is_made_by_a_python_that_set_up_does_not_remove() -> None:
    """The shell that sets up again may have the clone's own environment activated."""
    made = [command for step in bootstrap.steps(ROOT) for command in step.commands]
    made = [command for command in made if "venv" in command]
    assert len(made) == 2
    assert not any(Path(python).is_relative_to(sys.prefix) for python, *_ in made)


def test_every_step_shows_its_name_and_seconds(
    clone: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    install(clone, ENVIRONMENTS)
    assert re.search(r"setup: 1/1 a step \d+ s", capsys.readouterr().out)


def test_too_little_room_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Usage(NamedTuple):
        free: int

    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(free=3 * 10**9))
    with pytest.raises(SetupStopped, match=r"3\.0 GB are free .* needs 4; .*Debian.*macOS.*conda"):
        bootstrap.check_space(tmp_path)


def test_a_python_without_venv_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(SetupStopped, match=r"apt install python3\.\d+-venv.*macOS.*conda"):
        bootstrap.check_python()


def run_with_pythons(folder: Path, *versions: str) -> subprocess.CompletedProcess[str]:
    """`scripts/run` on a machine that has only these Pythons, none of them a usable one."""
    for tool in ("dirname", "sh"):
        found = shutil.which(tool)
        assert found
        (folder / tool).symlink_to(found)
    for version in versions:
        program = folder / f"python{version}"
        program.write_text(f"#!/bin/sh\necho unsuitable {version}\n")
        program.chmod(0o755)
    return subprocess.run(
        [str(ROOT / "scripts/run")],
        env={"PATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(("versions", "found"), [((), "none"), (("3",), "3")])
def test_no_usable_python_is_one_line(
    tmp_path: Path, versions: tuple[str, ...], found: str
) -> None:
    answer = run_with_pythons(tmp_path, *versions)
    assert answer.returncode == 2
    assert answer.stderr.startswith(f"error: setup: Python 3.11 to 3.13 is needed, found: {found};")
    assert answer.stderr.count("\n") == 1


def test_mirrors_and_certificates_of_a_company_are_used() -> None:
    shell = bootstrap.installer_environ(
        {"PIP_INDEX_URL": "mirror", "PIP_CERT": "/ca", "PIP_TARGET": "/away", "UV_PYTHON": "3.9"}
    )
    assert (shell["UV_DEFAULT_INDEX"], shell["SSL_CERT_FILE"]) == ("mirror", "/ca")
    assert not {"PIP_TARGET", "UV_PYTHON"} & set(shell)


def test_another_spark_on_the_module_path_is_passed_over(tmp_path: Path) -> None:
    other, own = tmp_path / "spark" / "python", tmp_path / "own"
    (other / "pyspark").mkdir(parents=True)
    own.mkdir()
    archive = tmp_path / "py4j-0.10.9.7-src.zip"
    archive.touch()
    answer = subprocess.run(
        [sys.executable, "-c", f"{bootstrap.OTHER_SPARKS}\nprint(sys.path)"],
        env=dict(os.environ) | {"PYTHONPATH": f"{other}:{archive}:{own}"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert str(own) in answer.stdout
    assert str(other) not in answer.stdout
    assert str(archive) not in answer.stdout


@pytest.mark.parametrize("name", bootstrap.LOCKS)
def test_every_locked_package_has_a_hash_and_no_address(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    packages = text.replace("\\\n", " ").splitlines()
    pinned = [line for line in packages if "==" in line and not line.lstrip().startswith("#")]
    assert pinned
    assert all("--hash=sha256:" in line for line in pinned)
    assert "://" not in text
