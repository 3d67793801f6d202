"""`ingest sql`: SELECT on the lake's tables, found by their folders."""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import sqlglot
from sqlglot.errors import TokenError

from ingest import settings
from ingest.cli import show
from ingest.errors import HeadwaterError, QueryWrong
from ingest.event_types import ops_table
from ingest.event_types.ops_table import Registered
from ingest.nearest import nearest
from ingest.spark.session import session
from ingest.storage.layout import Lake

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

_MOST_ROWS = 1000


def answer(query: str, json: bool) -> None:
    """Print the first thousand rows that `query` selects. Raises QueryWrong."""
    if len(split_statements(f"{query};")[0]) > 1:
        raise QueryWrong("give one statement, or pipe several into `ingest sql`")
    spark = _prepared(Lake(settings.lake()), query)
    show.step("running the query")
    _print(spark, query, json)


def shell(json: bool) -> int:
    """Read statements that end in a semicolon and print their results, until end of input.

    Return the exit code: of statements that are piped in, the highest of their errors.
    """
    lake = Lake(settings.lake())
    spark = _prepared(lake, "")
    terminal = sys.stdin.isatty()
    if terminal:
        sys.stdout.write("End each statement with ';'. Ctrl-D exits.\n")
    codes = [0]
    pending = ""
    with contextlib.suppress(KeyboardInterrupt):
        for line in _lines(terminal):
            queries, pending = split_statements(f"{pending}{line}\n")
            codes += [_run(spark, lake, query, json) for query in queries]
        if pending and not terminal:
            codes.append(_run(spark, lake, pending, json))
    return 0 if terminal else max(codes)


def split_statements(text: str) -> tuple[list[str], str]:
    """The statements of a text that end in a semicolon, and the one after them that does not."""
    try:
        tokens = sqlglot.tokenize(text, read="spark")
    except TokenError:
        # A literal, a quoted name or a comment that goes on in the next line.
        return [], text
    statements = []
    start = end = 0
    for token in tokens:
        if token.token_type is not sqlglot.TokenType.SEMICOLON:
            end = token.end + 1
            continue
        # Not where there are only comments.
        if end > start:
            statements.append(text[start : token.start])
        start = token.end + 1
    return statements, text[start:] if end > start else ""


def _lines(terminal: bool) -> Iterator[str]:
    with contextlib.suppress(EOFError):
        while True:
            yield input("sql> " if terminal else "")


def _run(spark: SparkSession, lake: Lake, query: str, json: bool) -> int:
    """Print the result of a statement, or its error; return the exit code."""
    try:
        _register(spark, lake, query)
        _print(spark, query, json)
    except HeadwaterError as error:
        show.error(error)
        return error.exit_code
    return 0


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
        raise QueryWrong(f"{one.name} cannot be shown: {_first_line(error)}") from error


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
        line = _first_line(error).rstrip(".;")
        raise QueryWrong(f"{line}{_known_tables(str(error))}") from error
    except PySparkException as error:
        raise HeadwaterError(_first_line(error)) from error
    found = as_dicts(rows[:_MOST_ROWS])
    if json:
        show.as_json(found)
    else:
        show.table("", found)
    if len(rows) > _MOST_ROWS:
        sys.stderr.write(f"only the first {_MOST_ROWS} rows are shown\n")


def as_dicts(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Rows by the names of their columns; a repeated name is `id_1`, as in DuckDB and pandas."""
    from pyspark.sql import Row

    if not rows:
        return []
    names: list[str] = []
    for column in rows[0].__fields__:
        name, number = column, 0
        while name in names:
            number += 1
            name = f"{column}_{number}"
        names.append(name)
    named = Row(*names)
    return [named(*row).asDict(recursive=True) for row in rows]


def _first_line(error: Exception) -> str:
    """The line that says what is wrong; what Spark's parser says begins with an empty one."""
    return str(error).strip().partition("\n")[0]


def _known_tables(error: str) -> str:
    if "TABLE_OR_VIEW_NOT_FOUND" not in error and "SCHEMA_NOT_FOUND" not in error:
        return ""
    lake = Lake(settings.lake())
    names = [*lake.tables(), *ops_table.names(lake)]
    missing = re.search(r"table or view ((?:`\w+`\.)?`\w+`) cannot be found", error)
    near = nearest(missing[1].replace("`", ""), names) if missing else ""
    has = near or f"; the lake has {', '.join(names) or 'no table yet'}"
    return f"{has}. Views that dbt made are not among them: see those with `dbt show`"


def _text(path: str) -> str:
    return path.replace("'", "\\'")
