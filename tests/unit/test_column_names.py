"""Names that Spark takes for one; that it does is in tests/spark."""

from __future__ import annotations

import pytest

from ingest.column_names import folded, member_path


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Name", "nAME"),
        ("sınır", "sinir"),
        ("İ", "i"),
        ("ΟΔΟΣ", "οδος"),
        ("οδοσ", "οδος"),
        ("\u212a", "k"),  # the sign of Kelvin
        ("ẞ", "ß"),
        ("Ǆ", "ǅ"),
        ("ᾳ", "ᾼ"),
    ],
)
def test_names_that_are_one_to_spark_are_one(one: str, other: str) -> None:
    assert folded(one) == folded(other)


@pytest.mark.parametrize(("one", "other"), [("straße", "strasse"), ("é", "e"), ("ﬁ", "fi")])
def test_other_names_stay_apart(one: str, other: str) -> None:
    assert folded(one) != folded(other)


@pytest.mark.parametrize(
    ("path", "name", "expected"),
    [
        ("", "a", "a"),
        ("a", "b c", "a.b c"),
        ("a[0]", "b", "a[0].b"),
        ("a", "b.c", "a.`b.c`"),
        ("a", "b[0]", "a.`b[0]`"),
        ("", "`", "````"),
        ("", "", "``"),
    ],
)
def test_paths_of_two_places_differ(path: str, name: str, expected: str) -> None:
    assert member_path(path, name) == expected
