"""Debezium's messages become flat records, their values what the database held."""

from __future__ import annotations

import json
from base64 import b64encode
from typing import Any

import pytest
from pyspark.sql import types as T

from ingest.declarations.datatypes import data_type
from ingest.declarations.reading import json_schema
from ingest.declarations.stream import DebeziumOptions, DecimalHandling, TimePrecision
from ingest.envelopes import connect_types
from ingest.envelopes.connect_types import by_schema, by_type
from ingest.envelopes.debezium import DebeziumMessages
from ingest.parse.json_exact import Known, Number, Refused, loaded
from ingest.parse.json_fit import taken

CONNECT = "org.apache.kafka.connect.data"
DEBEZIUM = "io.debezium.time"


def unscaled(number: int, size: int = 3) -> str:
    """A number as Connect writes the digits of a decimal."""
    return b64encode(number.to_bytes(size, "big", signed=True)).decode()


def messages(columns: str = "", **options: Any) -> DebeziumMessages:
    """The reader of a stream that declares these columns."""
    declared = data_type(f"struct<{columns}>") if columns else T.StructType()
    assert isinstance(declared, T.StructType)
    return DebeziumMessages(declared, DebeziumOptions(**options))


def read(message: Any, columns: str = "", **options: Any) -> dict[str, Any]:
    """A message as a flat record."""
    return messages(columns, **options).document(json.dumps(message))


def change(operation: str, **rest: Any) -> dict[str, Any]:
    """A message."""
    return {"op": operation, "source": {"lsn": 7, "ts_ms": 5, "db": "shop"}, "ts_ms": 6, **rest}


def with_schema(payload: Any, *fields: dict[str, Any]) -> dict[str, Any]:
    """A message that says what the columns of its rows are."""
    row = [{"type": "struct", "field": name, "fields": fields} for name in ("before", "after")]
    return {"schema": {"type": "struct", "fields": row}, "payload": payload}


def test_row_has_change_metadata() -> None:
    transaction = {"id": "1:7", "total_order": 3, "data_collection_order": 1}
    message = change("c", before=None, after={"id": 1, "name": "a"}, transaction=transaction)
    assert read(message) == {
        "id": "1",
        "name": "a",
        "op": "c",
        "source_lsn": "7",
        "source_ts_ms": "5",
        "transaction_order": "3",
        "debezium": {
            "source": {"lsn": "7", "ts_ms": "5", "db": "shop"},
            "ts_ms": "6",
            "transaction": {"id": "1:7", "total_order": "3", "data_collection_order": "1"},
        },
    }


def test_snapshot_row_has_the_lsn_of_its_connector() -> None:
    told = {"before": None, "after": {"id": 1}, "snapshot_lsn": "3"}
    places = {op: read(change(op, **told))["source_lsn"] for op in ("r", "c", "u")}
    assert places == {"r": "3", "c": "7", "u": "7"}
    # A row of an incremental snapshot has no place otherwise.
    row = change("r", **told) | {"source": {"lsn": None, "snapshot": "incremental"}}
    assert isinstance(read(row)["source_lsn"], Number)
    assert "snapshot_lsn" not in read(row)["debezium"]


def test_an_update_keeps_what_was_before_and_a_delete_is_what_was_before() -> None:
    update = read(change("u", before={"id": 1}, after={"id": 2}))
    assert (update["id"], update["debezium"]["before"]) == ("2", {"id": "1"})
    delete = read(change("d", before={"id": 1}, after=None))
    assert delete["id"] == "1"
    assert "before" not in delete["debezium"]


def test_what_concerns_no_row_has_no_columns_of_one() -> None:
    told = {"op", "source_lsn", "source_ts_ms", "transaction_order", "debezium"}
    assert set(read(change("t", before=None, after=None))) == told
    message = read(change("m", message={"prefix": "p", "content": "YQ=="}))
    assert set(message) == told
    assert message["debezium"]["message"] == {"prefix": "p", "content": "YQ=="}
    assert read(None) == read({"schema": None, "payload": None}) == {}


def test_a_column_that_is_called_like_ours_has_another_name() -> None:
    document = read(change("c", after={"op": "buy", "source": "web"}))
    assert (document["op"], document["after_op"], document["source"]) == ("c", "buy", "web")


WRONG = {
    "no change": ({"id": 1}, "op is None"),
    "another operation": (change("x"), "op is 'x'"),
    "an array": ([change("c")], "op is None"),
    "no row": (change("u", after=None), "op is u, but after is no object"),
    "a delete of nobody knows what": (change("d", before=None), "before is no object"),
    "a schema without a payload": ({"schema": {}, "payload": 3}, "op is None"),
}


@pytest.mark.parametrize(("message", "reason"), WRONG.values(), ids=WRONG)
def test_what_is_no_message_is_refused(message: Any, reason: str) -> None:
    with pytest.raises(Refused, match=reason) as refused:
        read(message)
    assert refused.value.code == "NOT_DEBEZIUM"


NAMED: dict[str, tuple[str, Any, str, str]] = {
    "a date": (f"{DEBEZIUM}.Date", 20000, "DATE", "2024-10-04"),
    "a date before 1970": (f"{CONNECT}.Date", -1, "DATE", "1969-12-31"),
    "a date as text": (f"{DEBEZIUM}.IsoDate", "2024-10-04Z", "DATE", "2024-10-04"),
    "milliseconds": (f"{DEBEZIUM}.Timestamp", 1, "TIMESTAMP", "1970-01-01T00:00:00.001Z"),
    "Connect's": (f"{CONNECT}.Timestamp", -1, "TIMESTAMP", "1969-12-31T23:59:59.999Z"),
    "microseconds": (f"{DEBEZIUM}.MicroTimestamp", -1, "TIMESTAMP", "1969-12-31T23:59:59.999999Z"),
    "nanoseconds": (f"{DEBEZIUM}.NanoTimestamp", 10**9, "TIMESTAMP", "1970-01-01T00:00:01Z"),
    "a zone": (f"{DEBEZIUM}.ZonedTimestamp", "2024-10-04T08:00:00Z", "TIMESTAMP", ""),
    "text": (f"{DEBEZIUM}.IsoTimestamp", "2024-10-04T08:00:00Z", "TIMESTAMP", ""),
}


@pytest.mark.parametrize(("name", "value", "kind", "text"), NAMED.values(), ids=NAMED)
def test_moments_are_known_as_such(name: str, value: Any, kind: str, text: str) -> None:
    found = by_schema({"type": "int64", "name": name}, None)(loaded(json.dumps(value)))
    assert (found, found.kind) == (text or value, kind)


TIMES = {
    f"{DEBEZIUM}.Time": (30_600_500, "08:30:00.5"),
    f"{CONNECT}.Time": (86_400_000, "24:00:00"),
    f"{DEBEZIUM}.MicroTime": (1, "00:00:00.000001"),
    f"{DEBEZIUM}.NanoTime": (61 * 10**9, "00:01:01"),
    f"{DEBEZIUM}.IsoTime": ("08:30:00Z", "08:30:00"),
}


@pytest.mark.parametrize("name", TIMES)
def test_times_of_day_are_text(name: str) -> None:
    value, text = TIMES[name]
    assert by_schema({"type": "int32", "name": name}, None)(loaded(json.dumps(value))) == text


FAR = {
    "microseconds": ("MicroTimestamp", 9223372036825200000, "9223372036825200000 / 1000000 s"),
    "days": ("Date", -719_163, "-719163 days"),
    "a year of five digits": ("ZonedTimestamp", "+12345-01-01T00:00:00Z", "+12345-01-01T00:00:00Z"),
    "no year": ("IsoDate", "0000-01-01Z", "0000-01-01"),
    "infinity": ("ZonedTimestamp", "infinity", "infinity"),
}


@pytest.mark.parametrize(("name", "value", "text"), FAR.values(), ids=FAR)
def test_what_few_calendars_hold_is_no_moment(name: str, value: Any, text: str) -> None:
    schema = {"type": "int64", "name": f"{DEBEZIUM}.{name}"}
    found = by_schema(schema, None)(loaded(json.dumps(value)))
    assert found == f"not in the years 1 to 9999: {text}"


def test_doubles_that_json_has_no_number_for_are_known_as_such() -> None:
    schema = {"type": "double"}
    assert by_schema(schema, None)("NaN").kind == "DOUBLE"
    assert type(by_schema(schema, None)("none")) is str
    assert taken("-Infinity", T.DoubleType()) == float("-inf")


def decimal(scale: int, precision: int | None = None) -> dict[str, Any]:
    """The schema of a decimal."""
    parameters = {"scale": str(scale)}
    if precision:
        parameters["connect.decimal.precision"] = str(precision)
    return {"type": "bytes", "name": f"{CONNECT}.Decimal", "parameters": parameters}


def test_decimals_have_all_their_digits() -> None:
    found = by_schema(decimal(2, 12), None)(unscaled(-12345))
    assert (found, found.kind) == ("-123.45", "DECIMAL(12,2)")
    assert by_schema(decimal(30), None)(unscaled(5)) == "0." + "0" * 29 + "5"
    wide = by_schema(decimal(0, 50), None)(unscaled(10**45, 20))
    assert (wide, isinstance(wide, Known)) == ("1" + "0" * 45, False)
    variable = {"type": "struct", "name": "io.debezium.data.VariableScaleDecimal"}
    value = {"scale": Number("3"), "value": unscaled(1005)}
    assert by_schema(variable, None)(value) == "1.005"
    assert by_schema(decimal(2, 12), None)("no base64") == "no base64"


@pytest.mark.parametrize(
    ("scale", "precision", "kind"),
    [(5, 2, "DECIMAL(5,5)"), (-2, 5, "DECIMAL(7,0)"), (40, None, None), (2, -1, "DECIMAL(2,2)")],
)
def test_decimals_of_unusual_scale_have_a_type_that_holds_them(
    scale: int, precision: int | None, kind: str | None
) -> None:
    found = by_schema(decimal(scale, precision), None)(unscaled(12, 1))
    assert getattr(found, "kind", None) == kind


UNUSUAL = {
    "a number where text is due": (decimal(2, 6), "1234"),
    "text without digits": (decimal(2, 6), '""'),
    "a scale past all limits": (decimal(10**9, 6), '"AQ=="'),
    "a date that is a truth": ({"type": "int32", "name": f"{DEBEZIUM}.Date"}, "true"),
    "a date that is a list": ({"type": "int32", "name": f"{DEBEZIUM}.Date"}, "[]"),
    "a date that is none": ({"type": "string", "name": f"{DEBEZIUM}.IsoDate"}, '"04.10.2024"'),
    "a time before midnight": ({"type": "int32", "name": f"{DEBEZIUM}.Time"}, "-1"),
    "bytes that are a number": ({"type": "bytes"}, "1234"),
}


@pytest.mark.parametrize(("schema", "text"), UNUSUAL.values(), ids=UNUSUAL)
def test_a_value_that_is_not_as_its_type_says_stays(schema: dict[str, Any], text: str) -> None:
    value = loaded(text)
    found = by_schema(schema, None)(value)
    assert (found, type(found)) == (value, type(value))


def test_variable_scales_have_limits() -> None:
    variable = {"type": "struct", "name": "io.debezium.data.VariableScaleDecimal"}
    for scale in ("1000000000", "-1000000000000000000"):
        value = {"scale": Number(scale), "value": "AQ=="}
        assert by_schema(variable, None)(value) == value
    digits = unscaled(10**6000, 3000)
    assert len(by_schema(variable, None)({"scale": Number("0"), "value": digits})) == 6001


def test_a_decimal_goes_into_a_column_of_numbers_as_a_number() -> None:
    found = by_schema(decimal(0, 10), T.LongType())(unscaled(42))
    assert (found, type(found)) == ("42", Number)


def test_values_are_found_inside_of_others() -> None:
    dates = {"type": "int32", "name": f"{DEBEZIUM}.Date"}
    nested = {
        "type": "struct",
        "fields": [
            {"type": "array", "items": dates, "field": "a"},
            {"type": "map", "keys": {"type": "string"}, "values": dates, "field": "m"},
            {"type": "bytes", "field": "b"},
            {"type": "string", "field": "s"},
        ],
    }
    value = {"a": [Number("0"), None], "m": {"k": Number("1")}, "b": "YQ==", "s": "YQ=="}
    found = by_schema(nested, None)(value)
    assert found == {"a": ["1970-01-01", None], "m": {"k": "1970-01-02"}, "b": "YQ==", "s": "YQ=="}
    assert (found["b"].kind, type(found["s"])) == ("BINARY", str)


def test_the_schema_of_each_message_counts() -> None:
    reader = messages()
    payload = change("u", before={"x": 1}, after={"x": 2})
    days = {"type": "int32", "field": "x", "name": f"{DEBEZIUM}.Date"}
    plain = {"type": "int32", "field": "x"}
    found = []
    for one in (days, days, plain, days):
        text = json.dumps(with_schema(payload, one), separators=(",", ":"))
        document = reader.document(text)
        found.append((document["x"], document["debezium"]["before"]["x"]))
    dates, numbers = ("1970-01-03", "1970-01-02"), ("2", "1")
    assert found == [dates, dates, numbers, dates]
    with pytest.raises(Refused, match="op is None"):
        reader.document(text[:-1] + ',"more":1}')
    with pytest.raises(Refused, match="not a schema") as refused:
        read({"schema": {"fields": [{"field": "after"}]}, "payload": payload})
    assert refused.value.code == "MALFORMED_SCHEMA"
    large = '{"schema":{"type":"struct","version":1' + "0" * 4400 + '},"payload":null}'
    assert reader.document(large) == {}


def test_trailing_bytes_count_for_the_second_message_too() -> None:
    reader = messages()
    text = json.dumps(with_schema(change("m")), separators=(",", ":"))
    for _ in range(2):
        assert reader.document(f"{text} \r\n")["op"] == "m"
        for more in ("x", "}", "\u00a0"):
            with pytest.raises(Refused, match=r"character|Extra"):
                reader.document(text + more)
            with pytest.raises(Refused):
                reader.document(text[:-1] + more.replace("}", "]"))


def test_a_row_is_no_value_of_a_semantic_type() -> None:
    fields = [{"type": "int32", "field": "x"}]
    row = {"type": "struct", "field": "after", "name": f"{DEBEZIUM}.Date", "fields": fields}
    payload = change("c", after={"x": 1})
    assert read({"schema": {"type": "struct", "fields": [row]}, "payload": payload})["x"] == "1"


def test_a_record_is_not_deeper_than_it_may_be() -> None:
    for rest in ({"extra": _nested(199)}, {"before": {"y": _nested(198)}}):
        with pytest.raises(Refused, match="nested deeper") as refused:
            read(change("u", after={"x": 1}, **rest))
        assert refused.value.code == "TOO_DEEP"


def test_a_document_in_a_text_is_not_deeper_than_it_may_be_however_it_is_written() -> None:
    declared = T.StructType([T.StructField("doc", T.VariantType())])
    reader = DebeziumMessages(declared, DebeziumOptions())
    text = json.dumps(change("c", after={"doc": "[" * 200 + "]" * 200}))
    escaped = text.replace("[" * 200, "\\u005b" * 200)
    for one in (text, escaped):
        with pytest.raises(Refused, match="nested deeper"):
            reader.document(one)


def _nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value",
    ["-", "LQ==", '{"-":"-"}', ["-"], [45]],
    ids=["text", "bytes", "hstore", "array of text", "array of numbers"],
)
def test_a_row_that_is_created_without_a_value_is_marked(value: Any) -> None:
    def mark(operation: str, found: Any) -> Any:
        message = change(operation, after={"id": 1, "x": found})
        return read(message, unavailable_value_placeholder="-")["debezium"].get("incomplete")

    assert (mark("c", value), mark("r", value), mark("u", value)) == (True, True, None)
    assert (mark("c", "--"), mark("c", None), mark("c", [])) == (None, None, None)


def test_nothing_of_a_message_is_dropped() -> None:
    document = read(change("c", before="odd", after={"op": 1, "after_op": 2, "Source_LSN": 3}))
    assert document["debezium"]["before"] == "odd"
    names = {"after_op": "2", "after_after_op": "1", "after_Source_LSN": "3"}
    assert {name: document[name] for name in names} == names
    ordered = read(change("c", after={"x": 1}, transaction={"total_order": None}))
    assert ordered["transaction_order"] == "0"


def test_without_a_schema_declared_types_and_modes_decide() -> None:
    columns = "price decimal(6,2), day date, at timestamp, tags array<decimal(6,2)>, note string"
    row = {"price": unscaled(150), "day": 1, "at": 2_000_000, "tags": [unscaled(5)], "note": "YQ=="}
    document = read(change("c", after=row), columns)
    assert (document["price"], document["tags"]) == ("1.50", ["0.05"])
    assert (document["day"], document["at"]) == ("1970-01-02", "1970-01-01T00:00:02Z")
    assert document["note"] == "YQ=="


def test_a_decimal_that_came_as_text_or_number_is_that_number() -> None:
    options = DebeziumOptions(decimal_handling=DecimalHandling.STRING)
    assert by_type(T.DecimalType(6, 2), options)("1234") == "1234"


@pytest.mark.parametrize(
    ("mode", "ticks"),
    [
        (TimePrecision.CONNECT, 1_000),
        (TimePrecision.MICROSECONDS, 1_000_000),
        (TimePrecision.NANOSECONDS, 1_000_000_000),
    ],
)
def test_timestamp_unit_follows_the_mode(mode: TimePrecision, ticks: int) -> None:
    options = DebeziumOptions(time_precision=mode)
    found = by_type(T.TimestampType(), options)(Number(str(90 * ticks)))
    assert found == "1970-01-01T00:01:30Z"


def test_single_columns_may_be_of_another_semantic_type() -> None:
    row = {"opens": 60_000, "at": 1_000, "about": '{"a": [1]}'}
    types = {"opens": f"{DEBEZIUM}.Time", "at": f"{DEBEZIUM}.Timestamp"}
    document = read(change("c", after=row), "at timestamp, about variant", semantic_types=types)
    assert (document["opens"], document["at"]) == ("00:01:00", "1970-01-01T00:00:01Z")
    assert document["about"] == {"a": ["1"]}


def test_every_semantic_type_that_may_be_declared_is_read() -> None:
    declared = json_schema()["properties"]["debezium"]["properties"]["semantic_types"]
    kinds = {f"{CONNECT}.Decimal": T.DecimalType(5, 2), "io.debezium.data.Json": T.VariantType()}
    for name in declared["additionalProperties"]["enum"]:
        found = connect_types.by_name(name, kinds.get(name))
        assert found is not connect_types.unchanged, name
