"""Which Java is found, and what a person reads where none fits."""

from __future__ import annotations

from pathlib import Path

import pytest

from ingest.errors import JavaMissing
from ingest.spark.java import find_java, major_version

VERSION_TEXTS = {
    'openjdk version "17.0.15" 2025-04-15': 17,
    'openjdk version "21.0.7" 2025-04-15 LTS': 21,
    'java version "1.8.0_392"': 8,
    'openjdk version "11.0.22" 2024-01-16': 11,
    'openjdk version "25-ea" 2025-09-16': 25,
    'openjdk version "23" 2024-09-17': 23,
    'Picked up JAVA_TOOL_OPTIONS: -Dx=y\nopenjdk version "17" 2021-09-14': 17,
    "No Java runtime present, requesting install.": None,
}


def make_java(home: Path, text: str, *, exit_code: int = 0) -> Path:
    """A program that answers `-version` as that Java does."""
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(
        f"#!/bin/sh\ncat >&2 <<'END'\n{text}\nEND\nexit {exit_code}\n".replace("cat ", "/bin/cat ")
    )
    program.chmod(0o755)
    return home


def openjdk(version: str) -> str:
    return f'openjdk version "{version}" 2025-04-15\nOpenJDK Runtime Environment'


@pytest.mark.parametrize(("text", "major"), VERSION_TEXTS.items())
def test_a_version_is_read_whatever_the_vendor_prints(text: str, major: int | None) -> None:
    assert major_version(text) == major


@pytest.mark.parametrize("version", ["17.0.15", "21.0.7"])
def test_java_home_is_taken_where_it_fits(tmp_path: Path, version: str) -> None:
    home = make_java(tmp_path / "with space" / "jdk", openjdk(version))
    assert find_java({"JAVA_HOME": str(home)}, root=tmp_path / "empty").home == home


@pytest.mark.parametrize("version", ["1.8.0_392", "11.0.22", "23", "25-ea"])
def test_an_unsuitable_java_home_is_passed_over(tmp_path: Path, version: str) -> None:
    unsuitable = make_java(tmp_path / "chosen", openjdk(version))
    suitable = make_java(tmp_path / "usr/lib/jvm/java-17", openjdk("17.0.15"))
    assert find_java({"JAVA_HOME": str(unsuitable)}, root=tmp_path).home == suitable


def test_a_link_on_the_path_leads_to_its_home(tmp_path: Path) -> None:
    home = make_java(tmp_path / "jdk", openjdk("17.0.15"))
    folder = tmp_path / "programs"
    folder.mkdir()
    (folder / "java").symlink_to(home / "bin" / "java")
    assert find_java({"PATH": f"/nowhere:{folder}"}, root=tmp_path / "empty").home == home


@pytest.mark.parametrize(
    "place",
    [
        ".sdkman/candidates/java/17.0.15-tem",
        "Library/Java/JavaVirtualMachines/temurin-17.jdk/Contents/Home",
    ],
)
def test_the_folders_of_version_managers_are_searched(tmp_path: Path, place: str) -> None:
    home = make_java(tmp_path / place, openjdk("17.0.15"))
    assert find_java({"HOME": str(tmp_path)}, root=tmp_path / "empty").home == home


def test_a_java_that_cannot_answer_is_none(tmp_path: Path) -> None:
    broken = make_java(tmp_path / "broken", openjdk("17.0.15"), exit_code=1)
    with pytest.raises(JavaMissing, match="no Java was found"):
        find_java({"JAVA_HOME": str(broken)}, root=tmp_path / "empty")


@pytest.mark.parametrize("version", ["1.8.0_392", "11.0.22", "25-ea"])
def test_only_unsuitable_ones_make_one_line_that_names_them(tmp_path: Path, version: str) -> None:
    home = make_java(tmp_path / "chosen", openjdk(version))
    with pytest.raises(JavaMissing) as caught:
        find_java({"JAVA_HOME": str(home)}, root=tmp_path / "empty")
    line = str(caught.value)
    assert f"only Java {major_version(openjdk(version))} at {home}" in line
    assert all(word in line for word in ("apt install", "brew install", "conda install"))
    assert "\n" not in line
