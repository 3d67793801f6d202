"""What Java is told where there are few cores."""

from __future__ import annotations

import pytest

from ingest.spark.session import sparing_options


@pytest.mark.parametrize(
    ("given", "is_chosen"),
    [
        ("", True),
        ("-Xss4m -Xlog:gc*:file=/tmp/a UseG1GC.log", True),
        ("-XX:-UseG1GC", True),
        ("-Xss4m -XX:+UseG1GC", False),
        ("-XX:+UseZGC -Xss4m", False),
        ("-XX:+UseSerialGC", False),
    ],
)
def test_collector_is_chosen_unless_the_user_names_one(given: str, *, is_chosen: bool) -> None:
    assert ("-XX:+UseParallelGC" in sparing_options(given)) == is_chosen
