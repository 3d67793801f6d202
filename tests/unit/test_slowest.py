"""`make test` names the tests that took longest."""

from __future__ import annotations

from pathlib import Path

from scripts.slowest import slowest

REPORT = """<testsuites><testsuite>
<testcase classname="tests.unit.test_a" name="test_one" time="0.5" />
<testcase classname="tests.unit.test_a" name="test_two" time="12.0" />
</testsuite></testsuites>"""


def test_the_longest_of_all_groups_come_first(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text(REPORT, "utf-8")
    (tmp_path / "b.xml").write_text(REPORT.replace("12.0", "3"), "utf-8")
    found = slowest(tmp_path)
    assert found[:2] == [
        *((12.0, "tests/unit/test_a.py::test_two"), (3.0, "tests/unit/test_a.py::test_two"))
    ]
    assert len(found) == 4
