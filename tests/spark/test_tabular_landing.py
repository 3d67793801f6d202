"""CSV and Parquet, with columns that differ from file to file."""

from __future__ import annotations

import gzip
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

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
        (1, "U", None, ["a"]),
        (1, None, Decimal("1.25"), None),
        (2, None, Decimal("2.00"), None),
        (3, "I", None, None),
    ]
    assert [(row.file, row._reason_code) for row in workshop.rejects("orders")] == [
        ("2 [é].parquet", "NULL_KEY"),
        ("cut.parquet", "FILE_UNREADABLE"),
        ("scratched.parquet", "FILE_UNREADABLE"),
    ]
    assert workshop.values("orders", "_rescued") == ['{"amount":"9.999"}', None, None, None]


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
