"""`make project`: a public dbt project on this project's profile, or a package beside its models.

    python -m scripts.public_project FOLDER [--package FOLDER]... [-- COMMAND...]

A folder whose dbt_project.yml names a profile is a project of its own: it is copied, with the
folder around it, and runs on ours. One without is a package: it is installed in a copy of this
project, whose tables it reads. `--package` are folders of the packages that it asks for, because
nothing is fetched. The command is dbt's, by default `build`. The lake is `target/project/lake`,
unless HEADWATER_LAKE names another.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parent.parent
_OURS = ("dbt_project.yml", "macros", "models", "seeds", "tests")


def read(path: Path) -> dict[str, Any]:
    """A file of yml; empty where there is none."""
    found: dict[str, Any] = yaml.safe_load(path.read_text("utf-8")) if path.is_file() else {}
    return found


def own_project(folder: Path, packages: Sequence[Path], work: Path) -> Path:
    """A copy of a project with a profile of its own, which becomes ours."""
    shutil.copytree(folder.parent, work / folder.parent.name)
    copy = work / folder.parent.name / folder.name
    profile = read(ROOT / "profiles.yml")["headwater"]
    name = read(copy / "dbt_project.yml")["profile"]
    (copy / "profiles.yml").write_text(yaml.safe_dump({name: profile}), "utf-8")
    asked = [
        one["local"] for one in read(copy / "packages.yml").get("packages", ()) if "local" in one
    ]
    local = [*((copy / one).resolve() for one in asked), *packages]
    install(copy, local)
    return copy


def package(folder: Path, packages: Sequence[Path], work: Path) -> Path:
    """A copy of this project in which a package is installed."""
    copy = work / "headwater"
    copy.mkdir()
    for name in _OURS:
        source = ROOT / name
        (shutil.copytree if source.is_dir() else shutil.copyfile)(source, copy / name)
    shutil.copyfile(ROOT / "profiles.yml", copy / "profiles.yml")
    # The package's own deprecations are its authors'.
    text = (copy / "dbt_project.yml").read_text("utf-8")
    settings = yaml.safe_load(text)
    settings["flags"].pop("warn_error_options", None)
    (copy / "dbt_project.yml").write_text(yaml.safe_dump(settings, sort_keys=False), "utf-8")
    install(copy, [folder, *packages])
    return copy


def install(project: Path, folders: Sequence[Path]) -> None:
    """Put packages where dbt looks for them; it then asks nobody for those that they ask for."""
    (project / "packages.yml").unlink(missing_ok=True)
    (project / "dbt_packages").mkdir()
    for folder in folders:
        name = read(folder / "dbt_project.yml")["name"]
        (project / "dbt_packages" / name).symlink_to(folder)


def main() -> int:
    """Returns as dbt does; 2 where a folder has no dbt project."""
    line = argparse.ArgumentParser(prog="python -m scripts.public_project", description=__doc__)
    line.add_argument("folder", type=Path)
    line.add_argument("--package", type=Path, action="append", default=[])
    given = sys.argv[1:]
    end = given.index("--") if "--" in given else len(given)
    chosen, command = line.parse_args(given[:end]), given[end + 1 :] or ["build"]
    folders = [one.resolve() for one in (chosen.folder, *chosen.package)]
    for one in folders:
        if not (one / "dbt_project.yml").is_file():
            print(f"project: {one} has no dbt_project.yml", file=sys.stderr)
            return 2
    work = ROOT / "target" / "project"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    is_own = "profile" in read(folders[0] / "dbt_project.yml")
    project = (own_project if is_own else package)(folders[0], folders[1:], work)
    (project / ".jars").symlink_to(ROOT / ".jars")
    environ = {"HEADWATER_LAKE": str(work / "lake"), **os.environ}
    dbt = str(Path(sys.executable).with_name("dbt"))
    return subprocess.run([dbt, *command], cwd=project, env=environ, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
