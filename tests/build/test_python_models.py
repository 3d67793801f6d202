"""Models in Python: built from what is new, as those in SQL; a mistake is one line."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Any, Final

import pytest

from tests.build.lake import Lake
from tests.build.parcels import parcel, parcel_project, write_models

_DAY: Final = dt.date(2026, 3, 1)
MODELS: Final = {
    "heaviest.py": """
        import pandas as pd
        from pyspark.sql import functions as F


        def model(dbt, session):
            dbt.config(materialized="incremental", unique_key="parcel")
            new = dbt.incremental_filter(dbt.source("moved", "parcels"))

            @F.pandas_udf("long")
            def grams(weight: pd.Series) -> pd.Series:
                return weight * 1000

            heaviest = new.groupBy("parcel").agg(
                F.max("weight").alias("weight"), F.max("_batch_id").alias("_batch_id")
            )
            return heaviest.withColumn("grams", grams("weight"))
    """,
    "first_letters.py": """
        def model(dbt, session):
            dbt.config(materialized="table")
            rows = dbt.ref("heaviest").toPandas()
            rows["letter"] = rows["parcel"].str[0]
            return rows.groupby("letter", as_index=False)["weight"].sum()
    """,
    "heavy.py": """
        def model(dbt, session):
            dbt.config(materialized="incremental", unique_key="parcel")
            rows = dbt.incremental_filter(dbt.source("moved", "parcels")).toPandas()
            return rows[rows["weight"] > 6][["parcel", "weight", "_batch_id"]]
    """,
    "middling.py": """
        from pyspark.sql import functions as F


        def model(dbt, session):
            dbt.config(
                materialized="incremental", unique_key="parcel", on_schema_change="sync_all_columns"
            )
            new = dbt.incremental_filter(dbt.source("moved", "parcels"))
            rows = new.select("parcel", "day", F.array("op").alias("ops"), "weight").toPandas()
            return rows[rows["weight"].between(5, 6)]
    """,
    "doubled.sql": """
        {{ config(materialized = 'view') }}
        select letter, 2 * weight as weight from {{ ref('first_letters') }}
    """,
}
MISTAKES: Final = {
    "of_a_number.py": "def model(dbt, session):\n    return 3\n",
    "of_a_key.py": "def model(dbt, session):\n    return {}['weight']\n",
    "of_a_package.py": "import not_there\n\n\ndef model(dbt, session):\n    return None\n",
    "of_spark.py": "def model(dbt, session):\n    return dbt.ref('heaviest').select('size')\n",
    "of_a_frame_without_columns.py": """
        import pandas as pd


        def model(dbt, session):
            return pd.DataFrame()
    """,
    "of_a_function.py": """
        from pyspark.sql import functions as F


        def model(dbt, session):
            @F.pandas_udf("long")
            def halved(weight):
                raise ValueError("no number\\nat all")

            return dbt.ref("heaviest").select(halved("weight").alias("half"))
    """,
    "of_a_function_that_runs_at_once.py": """
        from pyspark.sql import functions as F


        def model(dbt, session):
            halved = F.udf(lambda weight: weight / 0, "double")
            return dbt.ref("heaviest").select(halved("weight").alias("half")).toPandas()
    """,
    "of_one_key.py": """
        def model(dbt, session):
            dbt.config(materialized="incremental", unique_key="parcel")
            return dbt.incremental_filter(dbt.source("moved", "parcels"))
    """,
    "of_a_frame.py": """
        def model(dbt, session):
            rows = dbt.ref("heaviest")
            return dbt.incremental_filter(rows.where("weight > 1"))
    """,
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """A lake after three builds, what the last two said, and what was said of mistakes."""

    lake: Lake
    second: Any
    third: Any
    mistakes: dict[str, list[str]]


@pytest.fixture(scope="module")
def outcome(shared_lake: Lake, tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """Builds before and after something landed, and once more; then the mistakes."""
    shared_lake.empty()
    lake = parcel_project(shared_lake, tmp_path_factory.mktemp("python"), {})
    write_models(lake, MODELS)
    lake.land("moved__parcels", [parcel(1, "a1", _DAY, 5), parcel(2, "b1", _DAY, 6)])
    lake.build()
    lake.land("moved__parcels", [parcel(3, "a1", _DAY, 7), parcel(4, "a2", _DAY, 1)])
    second, third = lake.build(), lake.build()
    write_models(lake, MISTAKES)
    answer = lake.dbt("build", "--select", *(name.removesuffix(".py") for name in MISTAKES))
    results: Any = answer.result
    said = {one.node.name: str(one.message).strip().splitlines() for one in results}
    return Outcome(lake, second, third, said)


def test_what_is_new_is_merged(outcome: Outcome) -> None:
    rows = outcome.lake.rows("silver.heaviest", "parcel", "weight", "grams")
    assert rows == [("a1", 7, 7000), ("a2", 1, 1000), ("b1", 6, 6000)]
    assert "_batch_id > 0 and _batch_id <= 1" in outcome.second["heaviest"].node.compiled_code


def test_a_model_of_pandas_is_a_table_that_sql_reads(outcome: Outcome) -> None:
    assert outcome.lake.rows("silver.first_letters") == [("a", 8), ("b", 6)]
    assert outcome.lake.spark.sql("select * from silver.doubled order by letter").collect() == [
        *(("a", 16), ("b", 12))
    ]


def test_table_of_a_pandas_frame_without_rows_takes_rows_later(outcome: Outcome) -> None:
    table = outcome.lake.spark.table("silver.heavy")
    assert table.drop("_batch_id").dtypes == [("parcel", "string"), ("weight", "bigint")]
    assert outcome.lake.rows("silver.heavy", "parcel", "weight") == [("a1", 7)]


def test_pandas_frame_without_rows_is_merged_into_columns_of_any_type(outcome: Outcome) -> None:
    table = outcome.lake.spark.table("silver.middling")
    assert dict(table.dtypes)["ops"] == "array<string>"
    assert outcome.lake.rows("silver.middling", "parcel", "day") == [("a1", _DAY), ("b1", _DAY)]


def test_nothing_new_runs_no_code(outcome: Outcome) -> None:
    assert outcome.third["heaviest"].message == "nothing new"


def test_no_view_of_rows_stays_of_a_model_that_was_built(outcome: Outcome) -> None:
    views = {view.viewName for view in outcome.lake.spark.sql("show views").collect()}
    assert not views & {f"{name.removesuffix('.py')}__dbt_py" for name in MODELS}


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("of_a_number", ": model() returned int; return a DataFrame of Spark or of pandas"),
        ("of_a_key", ", line 2: KeyError: 'weight'"),
        ("of_a_package", ", line 1: the package not_there is not installed where dbt runs"),
        ("of_spark", ", line 2: AnalysisException: [UNRESOLVED_COLUMN"),
        ("of_a_frame_without_columns", ": model() returned a frame of pandas without columns"),
        ("of_a_function", ", line 7: ValueError: no number"),
        ("of_a_function_that_runs_at_once", ", line 5: ZeroDivisionError: division by zero"),
        ("of_a_frame", ": dbt.incremental_filter() takes dbt.ref('…') or dbt.source('…', '…')"),
    ],
)
def test_a_mistake_is_said_in_a_line(outcome: Outcome, model: str, words: str) -> None:
    lines = [line for line in outcome.mistakes[model] if f"models/silver/{model}.py" in line]
    assert any(f"PYTHON: models/silver/{model}.py{words}" in line for line in lines)
    assert len(outcome.mistakes[model]) <= 3


def test_a_key_that_comes_twice_in_a_first_build_is_refused(outcome: Outcome) -> None:
    said = " ".join(outcome.mistakes["of_one_key"])
    assert "silver.of_one_key: unique_key parcel" in said
    assert '{"parcel":"a1"}' in said
