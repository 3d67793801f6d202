"""`ingest sql`: SELECT on the lake's tables, found by their folders."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

from ingest import settings
from ingest.cli import show
from ingest.errors import HeadwaterError, QueryWrong
from ingest.event_types import ops_table
from ingest.event_types.ops_table import Registered
from ingest.spark.session import session
from ingest.storage.layout import Lake

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_MOST_ROWS = 1000


def answer(query: str, json: bool) -> None:
    """Print the first thousand rows that `query` selects."""
    spark = _prepared(Lake(settings.lake()), query)
    show.step("running the query")
    _print(spark, query, json)


def shell() -> None:
    """Read statements that end in a semicolon and print their results, until end of input."""
    lake = Lake(settings.lake())
    spark = _prepared(lake, "")
    terminal = sys.stdin.isatty()
    if terminal:
        sys.stdout.write("End each statement with ';'. Ctrl-D exits.\n")
    pending = ""
    while True:
        try:
            pending += input("sql> " if terminal else "") + "\n"
        except (EOFError, KeyboardInterrupt):
            return
        while ";" in pending:
            query, pending = pending.split(";", 1)
            if query.strip():
                try:
                    _register(spark, lake, query)
                    _print(spark, query, False)
                except HeadwaterError as error:
                    show.error(error)


def _prepared(lake: Lake, query: str) -> SparkSession:
    show.step("starting Spark")
    spark = session("ingest sql", lake.root)
    _register(spark, lake, query)
    return spark


def _register(spark: SparkSession, lake: Lake, query: str) -> None:
    """Register the tables that a query names in the session's catalog."""
    for schema, name in _named(query):
        if one := ops_table.view(lake, schema, name):
            _register_folder(spark, lake, *one.bronze_table.split("."))
            spark.sql(f"create database if not exists `{schema}`")
            _register_type(spark, one, one.newest(lake.table(schema, name)))
        elif lake.is_table(lake.table(schema, name)):
            _register_folder(spark, lake, schema, name)


def _register_type(spark: SparkSession, one: Registered, query: str) -> None:
    from pyspark.errors import AnalysisException

    try:
        spark.sql(f"create or replace view `{one.table_schema}`.`{one.table_name}` as {query}")
    except AnalysisException as error:
        raise QueryWrong(f"{one.name} cannot be shown: {str(error).splitlines()[0]}") from error


def _named(query: str) -> set[tuple[str, str]]:
    """Pairs of names that may be a schema and a table."""
    return set(re.findall(r"`?(\w+)`?\s*\.\s*`?(\w+)`?", query))


def _register_folder(spark: SparkSession, lake: Lake, schema: str, name: str) -> None:
    path = lake.table(schema, name)
    spark.sql(f"create database if not exists `{schema}`")
    spark.sql(
        f"create table if not exists `{schema}`.`{name}` using delta location '{_text(path)}'"
    )


def _print(spark: SparkSession, query: str, json: bool) -> None:
    from pyspark.errors import AnalysisException, ParseException, PySparkException

    try:
        rows = spark.sql(query).limit(_MOST_ROWS + 1).collect()
    except (ParseException, AnalysisException) as error:
        raise QueryWrong(f"{str(error).splitlines()[0]}{_known_tables(str(error))}") from error
    except PySparkException as error:
        raise HeadwaterError(str(error).splitlines()[0]) from error
    found = [row.asDict(recursive=True) for row in rows[:_MOST_ROWS]]
    if json:
        show.as_json(found)
    else:
        show.table("", found)
    if len(rows) > _MOST_ROWS:
        sys.stderr.write(f"only the first {_MOST_ROWS} rows are shown\n")


def _known_tables(error: str) -> str:
    if "TABLE_OR_VIEW_NOT_FOUND" not in error and "SCHEMA_NOT_FOUND" not in error:
        return ""
    lake = Lake(settings.lake())
    names = [*lake.tables(), *ops_table.names(lake)]
    has = f" The lake has: {', '.join(names) or 'no table yet'}."
    return f"{has} Views that dbt made are not among them: see those with `dbt show`."


def _text(path: str) -> str:
    return path.replace("'", "\\'")
