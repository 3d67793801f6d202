"""What a query reads is what Spark cannot do without."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from ingest.lineage.queries import read_by
from tests.unit.test_lineage import ASKED, READS, READS_NOT

Columns = Mapping[str, str]
ORDERS = {"id": "int", "i": "int", "amount": "int", "buyer": "struct<city: string, name: string>"}
BASKETS = {"id": "int", "items": "array<struct<price: int, name: string>>"}
TABLES: Mapping[str, Columns] = {
    "bronze_orders": ORDERS,
    "bronze_baskets": BASKETS,
    "silver_orders": ORDERS,
    "a": {"id": "int", "n": "int", "m": "int", "i": "int"},
    "r": {"amount": "int", "i": "int"},
    "refunds": {"amount": "int"},
}
# The tables without one of the columns that are asked for.
LACKING: Mapping[tuple[str, ...], tuple[str, Columns]] = {
    ("amount",): ("bronze_orders", {key: ORDERS[key] for key in ("id", "i", "buyer")}),
    ("buyer", "city"): ("bronze_orders", {**ORDERS, "buyer": "struct<name: string>"}),
    ("items", "price"): ("bronze_baskets", {**BASKETS, "items": "array<struct<name: string>>"}),
}
# Of a variant, and of JSON, the schema does not tell what is in it.
OPAQUE = ("variant_get", "to_json")
QUERIES = [*(sql for sql, _ in READS.values()), *READS_NOT.values()]


def show(spark: SparkSession, name: str, columns: Columns) -> None:
    """Make a table without rows."""
    told = ", ".join(f"{column} {kind}" for column, kind in columns.items())
    spark.createDataFrame([], told).createOrReplaceTempView(name)


def schema(spark: SparkSession, sql: str) -> str | None:
    """What a query has for columns; None where Spark refuses it."""
    try:
        return spark.sql(
            sql.replace("bronze.", "bronze_").replace("silver.", "silver_")
        ).schema.json()
    except AnalysisException:
        return None


@pytest.mark.parametrize("sql", [one for one in QUERIES if not any(word in one for word in OPAQUE)])
def test_a_query_reads_what_it_fails_without(spark: SparkSession, sql: str) -> None:
    for name, columns in TABLES.items():
        show(spark, name, columns)
    whole = schema(spark, sql)
    assert whole, "Spark refuses it"
    for path, (name, columns) in LACKING.items():
        show(spark, name, columns)
        asked = {table: paths & {path} for table, paths in ASKED.items()}
        assert read_by(sql, asked)[0] is (schema(spark, sql) != whole), path
        show(spark, name, TABLES[name])
