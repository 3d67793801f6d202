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
_TRACEBACK = "Traceback (most recent call last):"
# A line of a model in a worker's traceback; its path is relative to the project, as compiled.
_LINE_OF_MODEL = re.compile(
    r'^  File "(?P<path>[^/"<][^"]*\.py)", (?P<line>line \d+)', re.MULTILINE
)


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
            rows = _frame(module.__dict__["model"](given, spark), spark, given)
        except PythonModelFailed as error:
            raise PythonModelFailed(f"{self.path}: {error}") from None
        except Exception as error:
            place = self._place(error)
            failed = of_worker(str(error), place) if _is_of_spark(error) else None
            raise failed or PythonModelFailed(f"{place}: {_said(error)}") from error
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


def of_worker(text: str, place: str = "") -> PythonModelFailed | None:
    """The error of a model's function that a Python worker ran; None where Spark reports none.

    Spark runs functions when it writes the rows, after the model has returned. `place` is said
    where no line of a model raised.
    """
    _, found, last = text.rpartition(_TRACEBACK)
    raised = re.search(r"^\S.*", last, re.MULTILINE)
    if not found or not raised:
        return None
    lines = [f"{line['path']}, {line['line']}" for line in _LINE_OF_MODEL.finditer(last)]
    at = lines[-1] if lines else place
    return PythonModelFailed(f"{at}: {raised[0]}" if at else raised[0])


def _is_of_spark(error: Exception) -> bool:
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    return isinstance(error, PySparkException | Py4JJavaError)


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


def _frame(result: Any, spark: SparkSession, functions: Any) -> DataFrame:
    """What a model returned, as a frame of Spark."""
    from pyspark.sql import DataFrame

    if isinstance(result, DataFrame):
        return result
    kind = f"{type(result).__module__}.{type(result).__qualname__}"
    if kind == "pandas.core.frame.DataFrame":
        return spark.createDataFrame(result) if len(result) else _empty(result, spark, functions)
    if kind == "pyspark.pandas.frame.DataFrame":
        frame: DataFrame = result.to_spark()
        return frame
    raise PythonModelFailed(
        f"model() returned {kind.removeprefix('builtins.')}; "
        "return a DataFrame of Spark or of pandas"
    )


def _empty(result: Any, spark: SparkSession, functions: Any) -> DataFrame:
    """A frame of pandas without rows, in which Spark finds no types, as a frame of Spark.

    A column of objects, of which pandas does not say what they are, has the type that it has in
    the model's table; where it is new, it is text.
    """
    import pyarrow
    from pyspark.sql.types import NullType, StringType, StructField, StructType

    if not len(result.columns):
        raise PythonModelFailed("model() returned a frame of pandas without columns; name them")
    found = spark.createDataFrame(pyarrow.Table.from_pandas(result, preserve_index=False)).schema
    there = spark.table(str(functions.this)).schema if functions.is_incremental else StructType()
    types = {field.name.lower(): field.dataType for field in there}
    fields = [
        StructField(field.name, types.get(field.name.lower(), StringType()))
        if isinstance(field.dataType, NullType)
        else field
        for field in found
    ]
    return spark.createDataFrame([], StructType(fields))


def _said(error: Exception) -> str:
    """An error in one line."""
    if isinstance(error, ModuleNotFoundError):
        return (
            f"the package {error.name} is not installed where dbt runs; "
            "install it there, or remove its import"
        )
    text = str(error).strip()
    return f"{type(error).__name__}: {text.splitlines()[0]}" if text else type(error).__name__
