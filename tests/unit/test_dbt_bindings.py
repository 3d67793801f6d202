"""How dbt-spark writes values into statements of a Spark session, and how we do."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest
from dbt.adapters.spark.session import SessionConnectionWrapper

from dbt_headwater import bound


@pytest.mark.parametrize(
    ("value", "literal", "stock"),
    [
        (None, "null", "'None'"),
        ("it's", r"'it\'s'", "'it's'"),
        ("a\\b", r"'a\\b'", "'a\\b'"),
        ("${a}", r"'$\{a}'", "'${a}'"),
        (Decimal(2**53 + 1), str(2**53 + 1), float(2**53)),
        (Decimal("1E+3"), "1000", 1000.0),
    ],
)
def test_values_are_what_they_are(value: Any, literal: str, stock: Any) -> None:
    """When the last line is red for all, dbt-spark binds them: remove `bind_values`."""
    assert bound(value) == literal
    assert SessionConnectionWrapper._fix_binding(value) == stock


@pytest.mark.parametrize(
    ("value", "literal"),
    [
        (True, "True"),
        (1.5, "1.5"),
        (dt.date(2026, 3, 1), "'2026-03-01'"),
        (dt.datetime(2026, 3, 1, 12, 30, 5, 123456), "'2026-03-01 12:30:05.123456'"),  # noqa: DTZ001
    ],
)
def test_other_values_are_theirs(value: Any, literal: str) -> None:
    assert bound(value) == literal
