"""Errors of functions of Python models, as a Python worker of Spark reports them."""

from __future__ import annotations

import pytest

from ingest.spark.python_models import of_worker

WHEN_ROWS_ARE_WRITTEN = """An error occurred while calling o93.sql.
: org.apache.spark.SparkException: [TASK_WRITE_FAILED] Task failed while writing rows to file:/x.
\tat org.apache.spark.sql.delta.files.DeltaFileFormatWriter$.executeTask(DeltaFileFormatWriter)
Caused by: org.apache.spark.api.python.PythonException: Traceback (most recent call last):
  File "/opt/pyspark/worker.py", line 1900, in main
    process()
  File "models/a.py", line 9, in grams
  File "models/a.py", line 6, in helper
    return json.loads(text)
  File "/usr/lib/python3.11/json/decoder.py", line 355, in raw_decode
json.decoder.JSONDecodeError: no value
at all

\tat org.apache.spark.api.python.BasePythonRunner.handlePythonException(PythonRunner.scala)
"""
WITHOUT_A_MESSAGE = """An exception was thrown from the Python worker:
Traceback (most recent call last):
  File "models/a.py", line 12, in plain
AssertionError
"""
OUTSIDE_OF_THE_MODEL = """An exception was thrown from the Python worker:
Traceback (most recent call last):
  File "pyarrow/error.pxi", line 92, in pyarrow.lib.check_status
pyarrow.lib.ArrowInvalid: not a number

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/opt/pyspark/worker.py", line 3622, in main
    process()
PySparkValueError: Failed to convert the value of the column '_0'
"""


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (WHEN_ROWS_ARE_WRITTEN, "models/a.py, line 6: json.decoder.JSONDecodeError: no value"),
        (WITHOUT_A_MESSAGE, "models/a.py, line 12: AssertionError"),
        (OUTSIDE_OF_THE_MODEL, "PySparkValueError: Failed to convert the value of the column '_0'"),
    ],
)
def test_error_of_a_function_is_one_line_with_the_line_of_the_model(text: str, line: str) -> None:
    assert str(of_worker(text)) == line


def test_error_without_a_traceback_is_not_one_of_a_function() -> None:
    assert of_worker("[TABLE_OR_VIEW_NOT_FOUND] The table or view `a` cannot be found.") is None
