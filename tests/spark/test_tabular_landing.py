"""CSV and Parquet, with columns that differ from file to file."""

from __future__ import annotations

import gzip
import io
import json
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable
from pyspark.sql import DataFrame

from ingest.decoders.tabular import TabularRecords
from ingest.errors import TerminalError
from ingest.landing import batch
from ingest.runtime import blame
from ingest.schemas import ingest_columns
from tests.spark.workshop import Workshop


@pytest.fixture(scope="module")
def customers(workshop: Workshop) -> Workshop:
    """DMS in CSV: a load without `Op`, changes with it, and what can be wrong with files."""
    workshop.stream(
        "customers",
        {"customer_id": "bigint", "credit": "decimal(8,2)", "AR_H_CHANGE_SEQ": "string"},
        format="csv",
        envelope="dms",
        key=["customer_id"],
        sequence_by=["AR_H_CHANGE_SEQ"],
    )
    drop = workshop.drop
    drop("customers", "LOAD1.csv", 'customer_id,name,credit\n1,"Ann, B.",1.50\n2,"say ""hi""",\n')
    drop(
        "customers",
        "change.csv",
        b"Op,AR_H_CHANGE_SEQ,customer_id,name,credit\r\n"
        b"U,00000000000000000000000000000000002,1,Anna,2.005\r\n"
        b"D,00000000000000000000000000000000003,2,,\r\n"
        b"I,00000000000000000000000000000000004,,nobody,1\r\n"
        b"I,00000000000000000000000000000000005\r\n"
        b"I,00000000000000000000000000000000006,3,M\xfcller,1\r\n",
    )
    drop("customers", "packed.csv.gz", "customer_id,name\n4,Zoe\n")
    drop("customers", "cut.csv.gz", gzip.compress(b"customer_id,name\n" + b"5,Eve\n" * 99)[:-9])
    (workshop.folder("customers") / "cut.csv.gz").write_bytes(
        gzip.compress(b"customer_id,name\n5,Eve\n")[:-9]
    )
    drop("customers", "twice.csv", "customer_id,customer_id\n6,6\n")
    drop("customers", "10:15 [1].csv", "customer_id,name\n7,Tim\n")
    drop("customers", "empty.csv", "")
    drop("customers", "header only.csv", "customer_id,name\n")
    workshop.land("customers")
    return workshop


def test_files_with_other_columns_come_together_by_name(customers: Workshop) -> None:
    rows = [
        tuple(row) for row in customers.rows("customers", "customer_id", "Op", "name", "credit")
    ]
    assert rows == [
        (1, "U", "Anna", None),
        (1, None, "Ann, B.", Decimal("1.50")),
        (2, "D", None, None),
        (2, None, 'say "hi"', None),
        (4, None, "Zoe", None),
        (7, None, "Tim", None),
    ]


def test_a_csv_value_that_does_not_fit_is_rescued(customers: Workshop) -> None:
    rescued = customers.table("customers").where("_rescued is not null")
    assert [row._rescued for row in rescued.collect()] == ['{"credit":"2.005"}']


def test_csv_lines_that_are_broken_are_kept_with_their_bytes(customers: Workshop) -> None:
    lines = [row for row in customers.rejects("customers") if row.file == "change.csv"]
    found = sorted((row._position, row._reason_code, bytes(row._raw)) for row in lines)
    assert found == [
        (4, "NULL_KEY", b"I,00000000000000000000000000000000004,,nobody,1"),
        (5, "MALFORMED_CSV", b"I,00000000000000000000000000000000005"),
        (6, "INVALID_UTF8", b"I,00000000000000000000000000000000006,3,M\xfcller,1"),
    ]


def test_files_that_cannot_be_read_are_quarantined_whole(customers: Workshop) -> None:
    whole = [row for row in customers.rejects("customers") if row.file != "change.csv"]
    assert [(row.file, row._reason_code, row._position) for row in whole] == [
        ("cut.csv.gz", "FILE_UNREADABLE", None),
        ("twice.csv", "FILE_UNREADABLE", None),
    ]


def test_a_stream_goes_on_after_files_that_cannot_be_read(customers: Workshop) -> None:
    customers.drop("customers", "next.csv", "customer_id,name,city\n8,Kim,Ghent\n")
    customers.land("customers")
    rows = customers.table("customers").where("customer_id = 8").select("city").collect()
    assert [row.city for row in rows] == ["Ghent"]


def test_parquet_files_with_other_columns_and_types_come_together(workshop: Workshop) -> None:
    workshop.stream(
        "orders", {"order_id": "bigint"}, format="parquet", envelope="dms", key=["order_id"]
    )
    folder = workshop.folder("orders")
    amounts = pa.array([Decimal("1.25"), Decimal("2.00")], pa.decimal128(12, 2))
    pq.write_table(
        pa.table({"order_id": pa.array([1, 2]), "amount": amounts}), folder / "1.parquet"
    )
    pq.write_table(
        pa.table(
            {
                "Op": ["U", "U", "I"],
                "order_id": pa.array([1, None, 3], pa.int32()),
                "amount": pa.array([Decimal("9.999"), None, None], pa.decimal128(12, 3)),
                "tags": pa.array([["a"], None, None]),
            }
        ),
        folder / "2 [é].parquet",
    )
    whole = folder / "cut.parquet"
    pq.write_table(pa.table({"order_id": list(range(2000))}), whole)
    whole.write_bytes(whole.read_bytes()[:-50])
    middle = folder / "scratched.parquet"
    pq.write_table(pa.table({"order_id": [5]}), middle)
    scratched = bytearray(middle.read_bytes())
    scratched[4:40] = bytes(36)
    middle.write_bytes(bytes(scratched))
    workshop.land("orders")
    rows = [tuple(row) for row in workshop.rows("orders", "order_id", "Op", "amount", "tags")]
    assert rows == [
        (1, "U", Decimal("9.999"), ["a"]),
        (1, None, Decimal("1.25"), None),
        (2, None, Decimal("2.00"), None),
        (3, "I", None, None),
    ]
    assert [(row.file, row._reason_code) for row in workshop.rejects("orders")] == [
        ("2 [é].parquet", "NULL_KEY"),
        ("cut.parquet", "FILE_UNREADABLE"),
        ("scratched.parquet", "FILE_UNREADABLE"),
    ]
    assert workshop.values("orders", "_rescued") == [None] * 4


def test_a_cut_off_gz_of_json_is_quarantined_whole_and_neighbours_land(workshop: Workshop) -> None:
    workshop.stream("gz", {"id": "bigint"})
    good = b"".join(b'{"id": %d}\n' % number for number in range(500))
    workshop.drop("gz", "good.jsonl", [{"id": -1}])
    workshop.drop("gz", "cut.jsonl.gz", good)
    cut = workshop.folder("gz") / "cut.jsonl.gz"
    cut.write_bytes(cut.read_bytes()[:-20])
    workshop.drop("gz", "liar.jsonl.gz", b"")
    (workshop.folder("gz") / "liar.jsonl.gz").write_bytes(b'{"id": -2}\n')
    workshop.land("gz")
    assert workshop.values("gz", "id") == [-1]
    assert [(row.file, row._reason_code) for row in workshop.rejects("gz")] == [
        ("cut.jsonl.gz", "FILE_UNREADABLE"),
        ("liar.jsonl.gz", "FILE_UNREADABLE"),
    ]


def test_csv_lines_that_are_parts_of_a_value_are_quarantined_or_read_whole(
    workshop: Workshop,
) -> None:
    text = 'id,note\n1,"a\n2,b"\n3,c\n'
    workshop.stream("lines", format="csv")
    workshop.drop("lines", "a.csv", text)
    workshop.land("lines")
    assert workshop.rows("lines", "id", "note") == [(3, "c")]
    rejects = [(row._position, row._reason_code, row._raw) for row in workshop.rejects("lines")]
    assert rejects == [
        (2, "MALFORMED_CSV", b'1,"a'),
        (3, "MALFORMED_CSV", b'2,b"'),
    ]  # fmt: skip
    workshop.stream("whole", format="csv", multi_line=True)
    workshop.drop("whole", "a.csv", text)
    workshop.land("whole")
    assert workshop.rows("whole", "id", "note") == [(1, "a\n2,b"), (3, "c")]


def test_an_empty_csv_value_is_null_and_a_quoted_one_is_an_empty_text(workshop: Workshop) -> None:
    workshop.stream("empty", {"n": "bigint"}, format="csv")
    workshop.drop("empty", "a.csv", 'n,t,m\n1,,2\n"","",""\n3,x,\n')
    workshop.land("empty")
    assert workshop.rows("empty", "n", "t", "m", "_rescued") == [
        (1, None, 2, None),
        (3, "x", None, None),
        (None, "", None, None),
    ]


@pytest.mark.parametrize("file_format", ["csv", "parquet"])
def test_a_key_that_no_file_has_is_null(workshop: Workshop, file_format: str) -> None:
    name = f"unkeyed_{file_format}"
    workshop.stream(name, format=file_format, key=["id"])
    path = workshop.drop(name, f"a.{file_format}", "name\nAda\n")
    if file_format == "parquet":
        pq.write_table(pa.table({"name": ["Ada"]}), path)
    workshop.land(name)
    assert workshop.rows(name, "_source") == []
    assert [row._reason_code for row in workshop.rejects(name)] == ["NULL_KEY"]


INGEST_NAMES = ["_source", "_batch_id", "_metadata", "_raw", "_record", "_corrupt_record", "_ref"]


@pytest.mark.parametrize("file_format", ["csv", "parquet"])
def test_no_column_of_a_file_stands_for_one_of_ingest(workshop: Workshop, file_format: str) -> None:
    name = f"forged_{file_format}"
    workshop.stream(name, format=file_format, key=["id"])
    text = f"id,{','.join(INGEST_NAMES)}\n" + "1" + ",7" * len(INGEST_NAMES) + "\n"
    path = workshop.drop(name, f"a.{file_format}", text + text.splitlines()[1].replace("1", "", 1))
    if file_format == "parquet":
        columns = {one: ["7", "7"] for one in INGEST_NAMES}
        pq.write_table(pa.table({"id": [1, None], **columns}), path)
    workshop.land(name)
    (row,) = workshop.rows(name, "_source", "_batch_id", "_rescued", "id")
    assert (row._source, row._batch_id, row.id) == (str(path), 0, 1)
    assert json.loads(row._rescued) == dict.fromkeys(INGEST_NAMES, "7")
    assert {*workshop.table(name).columns} == {*ingest_columns.NAMES, "id"}
    (reject,) = workshop.table(f"{name}__quarantine").collect()
    assert (reject._source, reject._reason_code) == (str(path), "NULL_KEY")


def test_typed_values_land_in_columns_of_other_types_only_unchanged(workshop: Workshop) -> None:
    kinds = {
        "whole": "bigint", "flag": "boolean", "text": "string", "exact": "decimal(5,2)",
        "local": "timestamp_ntz", "counts": "map<string, int>", "list": "array<struct<a: bigint>>",
    }  # fmt: skip
    workshop.stream("typed_values", {"id": "bigint", **kinds, "any": "variant"}, format="parquet")
    workshop.drop("typed_values", "a.parquet", "")
    utc = pa.timestamp("us", "UTC")
    entries = pa.map_(pa.int32(), pa.int64())
    pq.write_table(
        pa.table(
            {
                "id": [1, 2],
                "whole": pa.array([2.5, float("nan")]),
                "flag": pa.array([1, 0]),
                "text": pa.array([b"\xc3\xbc", b"\xff"]),
                "exact": pa.array([Decimal("1.500"), Decimal("1.005")], pa.decimal128(12, 3)),
                "local": pa.array([0, None], utc),
                "counts": pa.array([[(1, 5), (2, None)], [(1, 2**40)]], entries),
                "list": [[{"a": 1}], [{"a": 2, "b": 3}]],
                "any": pa.array([[(1, 5)], None], entries),
            }
        ),
        workshop.folder("typed_values") / "a.parquet",
    )
    workshop.land("typed_values")
    one, two = workshop.rows("typed_values", "id", *kinds, "_rescued")
    assert one[1:-1] == (None, None, "ü", Decimal("1.50"), None, {"1": 5, "2": None}, [(1,)])
    assert workshop.values("typed_values", "to_json(any)") == ['{"1":5}', None]
    assert json.loads(one._rescued) == {"whole": "2.5", "flag": "1", "local": "1970-01-01 00:00:00"}
    assert two[1:-1] == (None, None, None, None, None, {"1": None}, [(2,)])
    assert json.loads(two._rescued) == {
        "whole": "NaN",
        "flag": "0",
        "text": "/w==",
        "exact": "1.005",
        "counts": '{"1":1099511627776}',
        "list": '[{"a":2,"b":3}]',
    }


def test_what_is_written_as_text_is_what_was_sent(workshop: Workshop) -> None:
    """Also where Spark's own JSON has other digits, or names that mean nothing."""
    kinds = {"text": "string", "whole": "bigint", "raw": "binary"}
    workshop.stream("as_text", {"id": "bigint", **kinds}, format="parquet")
    at, day = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC), date(2026, 1, 2)
    struct = pa.struct([("t", pa.timestamp("us", "UTC")), ("d", pa.date32()), ("b", pa.binary())])
    maps = {
        "_days": (day, pa.date32()),
        "_bytes": (b"\xff", pa.binary()),
        "_times": (at, struct[0].type),
    }
    columns = {
        name: pa.array([[(key, 1)]], pa.map_(kind, pa.int64()))
        for name, (key, kind) in maps.items()
    }
    pq.write_table(
        pa.table(
            {
                "id": [1],
                "text": pa.array([{"t": at, "d": day, "b": b"\xff"}], struct),
                # In base64 it is 1234.
                "whole": pa.array([b"\xd7m\xf8"]),
                "raw": [5],
                **columns,
            }
        ),
        workshop.folder("as_text") / "a.parquet",
    )
    workshop.land("as_text")
    (row,) = workshop.rows("as_text", "text", "whole", "raw", "_rescued")
    assert json.loads(row.text) == {
        "t": "2026-01-02T03:04:05.678901Z",
        "d": "2026-01-02",
        "b": "/w==",
    }
    assert json.loads(row._rescued) == {
        "whole": "1234",
        "raw": "5",
        "_days": '{"2026-01-02":1}',
        "_bytes": '{"/w==":1}',
        "_times": '{"2026-01-02 03:04:05.678901":1}',
    }


def test_files_of_one_batch_agree_on_the_types_of_their_columns(workshop: Workshop) -> None:
    workshop.stream("agreed", format="parquet")
    tables = [
        {
            "id": [1],
            "s": [{"a": 1}],
            "n": pa.array([1], pa.int32()),
            "d": [Decimal("1.5")],
            "x": [1],
        },
        {"id": [2], "s": [{"b": 2}], "n": [2**40], "d": [Decimal("12.25")], "x": ["one"]},
    ]
    for number, columns in enumerate(tables):
        pq.write_table(pa.table(columns), workshop.folder("agreed") / f"{number}.parquet")
    workshop.land("agreed")
    rows = workshop.rows("agreed", "id", "s.*", "n", "d", "x", "_rescued")
    assert [tuple(row) for row in rows] == [
        (1, 1, None, 1, Decimal("1.50"), "1", None),
        (2, None, 2, 2**40, Decimal("12.25"), "one", None),
    ]
    workshop.stream("agreed_csv", format="csv")
    workshop.drop("agreed_csv", "1.csv", "id,x\n1,5\n")
    workshop.drop("agreed_csv", "2.csv", "x,id,y\none,2,3\n")
    workshop.land("agreed_csv")
    found = workshop.rows("agreed_csv", "id", "x", "y", "_rescued")
    assert [tuple(row) for row in found] == [(1, "5", None, None), (2, "one", 3, None)]


def one_record(file_format: str, record: dict[str, Any]) -> bytes:
    """A file of one record, whose times have no zone."""
    if file_format == "parquet":
        sink = io.BytesIO()
        pq.write_table(pa.table({name: [value] for name, value in record.items()}), sink)
        return sink.getvalue()
    texts = {name: str(value) for name, value in record.items()}
    if file_format == "json":
        return json.dumps(texts).encode()
    return f"{','.join(texts)}\n{','.join(texts.values())}\n".encode()


@pytest.mark.parametrize("file_format", ["json", "csv", "parquet"])
def test_a_local_time_is_kept_where_it_is_declared_at_first_or_later(
    workshop: Workshop, file_format: str
) -> None:
    name, local = f"local_{file_format}", datetime.fromisoformat("2026-01-01T10:00:00")
    workshop.stream(name, {"id": "bigint"}, format=file_format)
    workshop.drop(name, "0", one_record(file_format, {"id": 0}))
    workshop.land(name)
    later = {"at": "timestamp_ntz", "s.t": "timestamp_ntz"}
    workshop.stream(name, {"id": "bigint", **later}, format=file_format)
    workshop.drop(name, "1", one_record(file_format, {"id": 1, "at": local}))
    workshop.land(name)
    table = DeltaTable(workshop.lake.bronze(f"test__{name}")).to_pyarrow_table()
    assert table.schema.field("at").type == pa.timestamp("us")
    assert sorted(table.select(["id", "at"]).to_pylist(), key=str) == [
        {"id": 0, "at": None},
        {"id": 1, "at": local},
    ]


class Broken(TabularRecords):
    """Fails at rows of files that are called bad, for a reason that nobody knows."""

    def decode(self) -> DataFrame:
        """See Decoder."""
        bad = "if(_source like '%bad%', raise_error('it broke'), true)"
        return super().decode().where(bad)


def test_a_file_that_fails_for_an_unknown_reason_is_quarantined_alone(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch, "TabularRecords", Broken)
    workshop.stream("unknown", format="csv")
    for number, file in enumerate(["a.csv", "bad.csv", "c.csv"]):
        workshop.drop("unknown", file, f"id\n{number}\n")
    workshop.land("unknown")
    assert workshop.values("unknown", "id") == [0, 2]
    (reject,) = workshop.table("unknown__quarantine").collect()
    assert reject._reason_code == "FILE_UNREADABLE"
    assert "/bad.csv: does not land: [USER_RAISED_EXCEPTION] it broke" in reject._reason
    assert not Path(workshop.lake.root, "_trials", "test__unknown").exists()


def test_where_many_files_fail_alike_the_stream_stops_and_all_land_later(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    workshop.stream("alike", format="csv")
    for number in range(2):
        workshop.drop("alike", f"bad{number}.csv", f"id\n{number}\n")
    with monkeypatch.context() as patch:
        patch.setattr(batch, "TabularRecords", Broken)
        patch.setattr(blame, "_ALIKE", 2)
        assert isinstance(workshop.run("alike"), TerminalError)
    workshop.land("alike")
    assert workshop.values("alike", "id") == [0, 1]
    assert workshop.rejects("alike") == []
