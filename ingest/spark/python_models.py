"""Python models of dbt, run in the session that dbt uses.

dbt gives the code of a model with its own functions below it; `macros/python` puts a comment in
front that names the file and the view to make. What the function `model(dbt, session)` returns
becomes that view, and the macros build the table from it as from a query.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ingest.errors import PythonModelFailed

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# The exact comment of macros/python; dbt puts one of its own in front.
_MODEL = re.compile(r"/\* python model (?P<path>.+) as (?P<view>\S+) \*/\n")
# Attribute of a table's frame: its name.
_NAME = "headwater_relation"


@dataclass(frozen=True, slots=True)
class PythonModel:
    """A model: its file, in the project; the view of its rows; its code with dbt's functions."""

    path: str
    view: str
    code: str

    @classmethod
    def in_statement(cls, statement: str) -> PythonModel | None:
        """The model that dbt gives as a statement; None where it is SQL."""
        found = _MODEL.search(statement)
        return found and cls(found["path"], found["view"], statement[found.end() :])

    def run(self, spark: SparkSession) -> None:
        """Make the view of the rows that the model returns.

        Raises PythonModelFailed with the line of the model that raised, or with what it returned.
        """
        # The workers of pandas functions get what they use of it with the function itself.
        module = ModuleType("dbt_model")
        module.__dict__["spark"] = spark
        try:
            exec(compile(self.code, self.path, "exec"), module.__dict__)  # noqa: S102
            given = _functions(module.__dict__, spark)
            rows = _frame(module.__dict__["model"](given, spark), spark)
        except PythonModelFailed as error:
            raise PythonModelFailed(f"{self.path}: {error}") from None
        except Exception as error:
            raise PythonModelFailed(f"{self._place(error)}: {_said(error)}") from error
        rows.createOrReplaceTempView(self.view)

    def _place(self, error: Exception) -> str:
        """The file and the last line of it that led to an error."""
        if isinstance(error, SyntaxError) and error.filename == self.path:
            return f"{self.path}, line {error.lineno}"
        lines = [
            frame.lineno
            for frame in traceback.extract_tb(error.__traceback__)
            if frame.filename == self.path
        ]
        return f"{self.path}, line {lines[-1]}" if lines else self.path


def _functions(code: Mapping[str, Any], spark: SparkSession) -> Any:
    """The argument `dbt` of a model: dbt's own, and `incremental_filter`."""

    def table(name: str) -> DataFrame:
        frame = spark.table(name)
        setattr(frame, _NAME, name)
        return frame

    def incremental_filter(frame: DataFrame, column: str = "_batch_id") -> DataFrame:
        condition = code["incremental_conditions"].get(getattr(frame, _NAME, None))
        # Columns were known when the condition was made.
        if condition is None or (condition != "true" and f"({column} > " not in condition):
            raise PythonModelFailed(
                "dbt.incremental_filter() takes dbt.ref('…') or dbt.source('…', '…') as it stands, "
                "with names in quotes, and no frame that was made from it"
            )
        return frame.where(condition)

    functions = code["dbtObj"](table)
    functions.incremental_filter = incremental_filter
    return functions


def _frame(result: Any, spark: SparkSession) -> DataFrame:
    """What a model returned, as a frame of Spark."""
    from pyspark.sql import DataFrame

    if isinstance(result, DataFrame):
        return result
    kind = f"{type(result).__module__}.{type(result).__qualname__}"
    if kind == "pandas.core.frame.DataFrame":
        return spark.createDataFrame(result)
    if kind == "pyspark.pandas.frame.DataFrame":
        frame: DataFrame = result.to_spark()
        return frame
    raise PythonModelFailed(
        f"model() returned {kind.removeprefix('builtins.')}; "
        "return a DataFrame of Spark or of pandas"
    )


def _said(error: Exception) -> str:
    """An error in one line."""
    if isinstance(error, ModuleNotFoundError):
        return (
            f"the package {error.name} is not installed where dbt runs; "
            "install it there, or remove its import"
        )
    text = str(error).strip()
    return f"{type(error).__name__}: {text.splitlines()[0]}" if text else type(error).__name__
