"""Two files of everything, landed in spite of an interruption: each record is there once."""

from __future__ import annotations

from typing import Any, Final

from ingest.runtime.progress import read_totals
from tests.spark.workshop import Workshop

HINTS: Final = {"id": "bigint"}
DECLARED: Final[dict[str, Any]] = {
    "key": ["id"],
    "event_id": ["id"],
    "deduplicate_within": "7 days",
}


def drop_mixed(workshop: Workshop, name: str) -> None:
    """Records that fit, new fields, duplicates within and across files, and what is refused."""
    good = [{"id": number} for number in range(50)]
    workshop.drop(name, "1.jsonl", [*good, {"id": 50, "new": 1}, {"id": 1}, {"none": 1}])
    workshop.drop(name, "2.jsonl", '{"id": 51, "x": "y"}\nbroken\n{"id": 2}\n')


def assert_each_is_there_once(workshop: Workshop, name: str) -> None:
    """Rows, rejects and totals of these files, as if nothing had happened."""
    assert workshop.values(name, "id") == sorted(range(52), key=lambda one: str((one,)))
    rejects = [(row.file, row._position, row._reason_code) for row in workshop.rejects(name)]
    assert rejects == [("1.jsonl", 53, "NULL_KEY"), ("2.jsonl", 2, "MALFORMED_JSON")]
    totals = read_totals(workshop.lake, f"test.{name}", f"test__{name}")
    assert (totals.landed, totals.quarantined, totals.batches) == (52, 2, 1)
