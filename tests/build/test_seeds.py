"""Seeds keep every character, and the work-around for it ends when it can."""

from __future__ import annotations

import pytest
from dbt.adapters.spark.session import Connection, SessionConnectionWrapper
from dbt_common.exceptions import DbtRuntimeError

from tests.build.lake import Lake


def test_a_seed_keeps_its_apostrophe(lake: Lake) -> None:
    lake.build("cities")
    cities = [row["city"] for row in lake.rows("silver.cities", "city")]
    assert "'s-Hertogenbosch" in cities
    assert "Köln" in cities


def test_a_seed_is_left_alone_until_asked_then_replaced_not_appended_to(lake: Lake) -> None:
    lake.build("cities")
    once, version = lake.rows("silver.cities"), lake.version("silver.cities")
    assert lake.build("cities")["cities"].message == "unchanged"
    assert lake.version("silver.cities") == version
    lake.build("cities", full_refresh=True)
    assert lake.version("silver.cities") > version
    assert lake.rows("silver.cities") == once


def test_unpatched_apostrophe_still_fails(lake: Lake) -> None:
    """When this goes red, dbt-spark quotes: remove macros/seeds/spark__load_csv_rows.sql."""
    assert lake.spark
    wrapper = SessionConnectionWrapper(Connection())
    with pytest.raises(DbtRuntimeError, match="INVALID_IDENTIFIER"):
        wrapper.cursor().execute("select %s as city", ["'s-Hertogenbosch"])
