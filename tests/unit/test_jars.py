"""Jars are what their hashes say, or are not there at all."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from scripts import jars
from scripts.jars import Jar, JarRefused, Sources, fetch, locked_jars

GOOD = b"the bytes of a jar"


def make_lock(folder: Path, content: bytes = GOOD, *names: str) -> Path:
    lock = folder / "jgo.lock.toml"
    lock.write_text(
        "\n".join(
            f'[[dependencies]]\ngroupId = "org.example"\nartifactId = "{name}"\nversion = "1.0"\n'
            f'sha256 = "{hashlib.sha256(content).hexdigest()}"\n'
            for name in names or ("thing",)
        )
    )
    return lock


def offering(*contents: bytes | None) -> Sources:
    """Sources that hold these bytes, the nearest first; None is a source without the jar."""

    def sources(jar: Jar, scratch: Path) -> list[Callable[[], Path | None]]:
        def source(number: int, content: bytes | None) -> Path | None:
            if content is None:
                return None
            path = scratch / f"source{number}" / jar.filename
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(content)
            return path

        return [partial(source, number, content) for number, content in enumerate(contents)]

    return sources


def test_a_jar_with_the_right_hash_is_placed(tmp_path: Path) -> None:
    assert fetch(make_lock(tmp_path), tmp_path / "jars", offering(GOOD)) == 1
    assert (tmp_path / "jars" / "thing-1.0.jar").read_bytes() == GOOD


def test_a_jar_that_is_there_is_not_fetched_again(tmp_path: Path) -> None:
    fetch(make_lock(tmp_path), tmp_path / "jars", offering(GOOD))
    assert fetch(make_lock(tmp_path), tmp_path / "jars", offering()) == 0


def test_a_torn_copy_nearby_is_passed_over_for_a_good_one(tmp_path: Path) -> None:
    assert fetch(make_lock(tmp_path), tmp_path / "jars", offering(GOOD[:5], GOOD)) == 1


def test_a_wrong_hash_everywhere_is_one_line_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(
        JarRefused, match=r"org\.example:thing:1\.0: its sha256 is \w+, the lock"
    ) as told:
        fetch(make_lock(tmp_path), tmp_path / "jars", offering(None, b"other bytes"))
    assert "\n" not in str(told.value)
    assert list((tmp_path / "jars").iterdir()) == []


def test_a_jar_that_was_changed_here_is_replaced(tmp_path: Path) -> None:
    lock = make_lock(tmp_path)
    fetch(lock, tmp_path / "jars", offering(GOOD))
    (tmp_path / "jars" / "thing-1.0.jar").write_bytes(b"changed")
    fetch(lock, tmp_path / "jars", offering(GOOD))
    assert (tmp_path / "jars" / "thing-1.0.jar").read_bytes() == GOOD


def test_what_the_lock_does_not_name_leaves_the_class_path(tmp_path: Path) -> None:
    fetch(make_lock(tmp_path, GOOD, "thing", "former"), tmp_path / "jars", offering(GOOD))
    fetch(make_lock(tmp_path, GOOD, "thing"), tmp_path / "jars", offering(GOOD))
    assert [path.name for path in (tmp_path / "jars").iterdir()] == ["thing-1.0.jar"]


def test_a_lock_entry_without_a_hash_is_refused(tmp_path: Path) -> None:
    lock = tmp_path / "jgo.lock.toml"
    lock.write_text('[[dependencies]]\ngroupId = "g"\nartifactId = "a"\nversion = "1"\n')
    with pytest.raises(JarRefused, match="has no sha256"):
        locked_jars(lock)


@pytest.mark.parametrize("name", [*jars.SETS, *jars.OTHERS])
def test_what_the_list_asks_for_is_locked_and_nothing_else(name: str) -> None:
    text = (jars.ROOT / name.replace(".lock", "")).read_text(encoding="utf-8")
    asked = {
        ":".join(one.split(":")[:3]) for one in tomllib.loads(text)["dependencies"]["coordinates"]
    }
    locked = {str(jar) for jar in locked_jars(jars.ROOT / name)}
    assert asked <= locked
    assert asked == locked or name in jars.TRANSITIVE
