"""What somebody who misspelt a name may have meant."""

from __future__ import annotations

import pytest

from ingest.nearest import nearest

TABLES = ["silver.orders_current", "silver.orders_history", "gold.fct_sales", "silver.fct_sales"]


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("silver.order_current", "; nearest: silver.orders_current, silver.orders_history"),
        ("fct_sale", "; nearest: gold.fct_sales, silver.fct_sales"),
        ("zebras", ""),
    ],
)
def test_names_are_compared_with_their_schema_or_without(name: str, found: str) -> None:
    assert nearest(name, TABLES) == found
