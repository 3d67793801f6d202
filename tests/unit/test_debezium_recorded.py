"""What Debezium's connector wrote, in each of its modes, is what PostgreSQL held."""

from __future__ import annotations

from base64 import b64decode
from decimal import Decimal
from functools import cache
from typing import Any

import pytest
from pyspark.sql import types as T

from ingest.declarations.datatypes import data_type
from ingest.declarations.stream import DebeziumOptions, DecimalHandling, TimePrecision
from ingest.envelopes.avro_as_json import avro_texts
from ingest.envelopes.debezium import DebeziumMessages
from tests.recorded import FAR, FOLDER, lines, truth

MODES = "abcdefgh"
TYPES = (
    "c_num_12_2 decimal(12,2), c_num_38_10 decimal(38,10), c_money decimal(38,2), c_date date, "
    "c_nums_10_3 array<decimal(10,3)>, c_dates array<date>, c_ts_0 timestamp, c_ts_3 timestamp, "
    "c_ts_6 timestamp, c_tstz timestamp"
)
TIME = "io.debezium.time"
CONNECT_TIME = "org.apache.kafka.connect.data.Time"
# What messages without a schema need to be told.
OPTIONS = {
    "a": DebeziumOptions(
        semantic_types={
            "c_numeric": "io.debezium.data.VariableScaleDecimal",
            "c_ts_0": f"{TIME}.Timestamp",
            "c_ts_3": f"{TIME}.Timestamp",
            "c_time_0": f"{TIME}.Time",
            "c_time_3": f"{TIME}.Time",
            "c_time_6": f"{TIME}.MicroTime",
        }
    ),
    "c": DebeziumOptions(
        decimal_handling=DecimalHandling.STRING,
        time_precision=TimePrecision.CONNECT,
        semantic_types=dict.fromkeys(("c_time_0", "c_time_3", "c_time_6"), CONNECT_TIME),
    ),
}
# Rows whose dates and times are past what columns hold: before Christ, after 9999, infinite.
FAR_ROWS = {number + more for number in (15, 19, 20, 21, 22, 23, 24) for more in (0, 1000)}
# Rows of which Debezium itself tells snapshot and stream apart: the gap of October 1582.
UNSURE_ROWS = {12, 1012}


def messages(mode: str) -> list[str]:
    """All messages of a mode; `h` is the defaults in Avro."""
    if mode != "h":
        return lines(f"{mode}/kinds")
    files = sorted((FOLDER / "h").glob("*.avro"))
    return [text for path in files for text in avro_texts(str(path))]


@cache
def newest(mode: str) -> dict[int, dict[str, Any]]:
    """By key, the row that its newest message holds."""
    declared = data_type(f"struct<{TYPES if mode in OPTIONS else ''}>")
    assert isinstance(declared, T.StructType)
    reader = DebeziumMessages(declared, OPTIONS.get(mode, DebeziumOptions()))
    documents = [reader.document(text) for text in messages(mode)]
    changes = [one for one in documents if one]
    changes.sort(key=lambda one: (int(one["source_lsn"]), int(one["transaction_order"])))
    return {int(one["id"]): one for one in changes}


def held(mode: str, column: str) -> dict[int, tuple[Any, str | None]]:
    """By key, what the message says and what the database held."""
    wanted = {int(str(row["id"])): row[column] for row in truth("kinds")}
    return {key: (newest(mode)[key].get(column), value) for key, value in wanted.items()}


def test_the_newest_messages_are_of_the_rows_that_were_left() -> None:
    left = {int(str(row["id"])) for row in truth("kinds")}
    for mode in MODES:
        living = {key for key, row in newest(mode).items() if row["op"] != "d"}
        assert living == left, mode


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("column", ["c_num_12_2", "c_num_38_10", "c_money", "c_numeric"])
def test_decimals(mode: str, column: str) -> None:
    for key, (found, wanted) in held(mode, column).items():
        number = wanted and wanted.replace("$", "").replace(",", "")
        if number in ("NaN", "Infinity", "-Infinity") or number is None:
            # Debezium has three ways to say it, of which one is to say nothing.
            assert found in (None, number, "NAN", "POSITIVE_INFINITY", "NEGATIVE_INFINITY"), key
        elif mode == "d":
            assert float(found) == float(number), key
        else:
            assert Decimal(found) == Decimal(number), key


@pytest.mark.parametrize("mode", MODES)
def test_dates(mode: str) -> None:
    for key, (found, wanted) in held(mode, "c_date").items():
        if key in UNSURE_ROWS:
            continue
        if key in FAR_ROWS and wanted:
            # A snapshot forgets that a year was before Christ.
            assert found.startswith(FAR) or found == wanted.removesuffix(" BC"), key
        else:
            assert found == wanted, key


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("column", ["c_ts_0", "c_ts_3", "c_ts_6", "c_tstz"])
def test_timestamps(mode: str, column: str) -> None:
    for key, (found, wanted) in held(mode, column).items():
        if wanted is None:
            assert found is None, key
        elif found is None:
            assert mode == "f", key
        elif key in FAR_ROWS:
            assert found.startswith(FAR), key
        else:
            text = wanted.removesuffix("+00").replace(" ", "T")
            if mode == "c" and column == "c_ts_6" and "." in text:
                text = text[: text.index(".") + 4].rstrip("0").rstrip(".")
            assert moment(found) == moment(text), key


def moment(text: str) -> str:
    """A moment without zone and zeros at its end."""
    text = text.removesuffix("Z")
    return text.rstrip("0").rstrip(".") if "." in text else text


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("column", ["c_time_0", "c_time_3", "c_time_6"])
def test_times_of_day(mode: str, column: str) -> None:
    for key, (found, wanted) in held(mode, column).items():
        text = wanted
        if text and mode == "c" and "." in text:
            text = text[: text.index(".") + 4]
        if text == "24:00:00" and mode == "d":
            text = "00:00:00"
        assert (found and moment(found)) == (text and moment(text)), key


@pytest.mark.parametrize("mode", MODES)
def test_bytes(mode: str) -> None:
    for key, (found, wanted) in held(mode, "c_bytea").items():
        assert (None if found is None else "\\x" + b64decode(found).hex()) == wanted, key


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("column", ["c_dates", "c_nums_10_3"])
def test_arrays(mode: str, column: str) -> None:
    for key, (found, wanted) in held(mode, column).items():
        if key in FAR_ROWS or wanted is None or found is None:
            assert key in FAR_ROWS or wanted is None or "NaN" in wanted, key
            continue
        texts = wanted.strip("{}").split(",") if wanted != "{}" else []
        if column == "c_dates":
            assert [one or "NULL" for one in found] == texts, key
        else:
            numbers = [None if one == "NULL" else Decimal(one) for one in texts]
            assert [None if one is None else Decimal(one) for one in found] == numbers, key


def test_messages_that_concern_no_row_are_read() -> None:
    reader = DebeziumMessages(T.StructType(), DebeziumOptions())
    documents = [reader.document(line) for line in lines("a/message")]
    assert {one["op"] for one in documents} == {"m"}
    assert documents[0]["debezium"]["message"]["prefix"] == "audit"
