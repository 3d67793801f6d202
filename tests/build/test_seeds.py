"""Seeds keep every character."""

from __future__ import annotations

from decimal import Decimal

import pytest
from dbt.adapters.spark.session import Connection, SessionConnectionWrapper

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


def test_values_that_dbt_binds_are_what_they_are(seeded: Lake) -> None:
    """As in seeds of a project that has not our macros."""
    assert seeded.spark
    values = ["'s-Hertogenbosch", r"a\b ${c}", None, Decimal(2**53 + 1), True]
    cursor = SessionConnectionWrapper(Connection()).cursor()
    cursor.execute("select %s, %s, cast(%s as string), cast(%s as bigint), %s", values)
    assert [list(row) for row in cursor.fetchall() or ()] == [values]
