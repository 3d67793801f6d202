"""Seeds keep every character, and the work-around for it ends when it can."""

from __future__ import annotations

import pytest
from dbt.adapters.spark.session import Connection, SessionConnectionWrapper
from dbt_common.exceptions import DbtRuntimeError

from tests.build.lake import Lake


@pytest.fixture(scope="module")
def seeded(shared_lake: Lake) -> Lake:
    """A lake with the seed of cities alone."""
    shared_lake.empty()
    shared_lake.build("cities")
    return shared_lake


def test_a_seed_keeps_its_apostrophe(seeded: Lake) -> None:
    cities = [row["city"] for row in seeded.rows("silver.cities", "city")]
    assert "'s-Hertogenbosch" in cities
    assert "Köln" in cities


def test_a_seed_is_left_alone_until_asked_then_replaced_not_appended_to(seeded: Lake) -> None:
    once, version = seeded.rows("silver.cities"), seeded.version("silver.cities")
    assert seeded.build("cities")["cities"].message == "unchanged"
    assert seeded.version("silver.cities") == version
    seeded.build("cities", full_refresh=True)
    assert seeded.version("silver.cities") > version
    assert seeded.rows("silver.cities") == once


def test_a_seed_has_its_layer(seeded: Lake) -> None:
    assert seeded.properties("silver.cities")["quality"] == "silver"


def test_unpatched_apostrophe_still_fails(shared_lake: Lake) -> None:
    """When this goes red, dbt-spark quotes: remove macros/seeds/spark__load_csv_rows.sql."""
    assert shared_lake.spark
    wrapper = SessionConnectionWrapper(Connection())
    with pytest.raises(DbtRuntimeError, match="INVALID_IDENTIFIER"):
        wrapper.cursor().execute("select %s as city", ["'s-Hertogenbosch"])
