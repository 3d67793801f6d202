"""A lake to build in: bronze written by path, dbt invoked in this process, tables read back."""

from __future__ import annotations

import contextlib
import datetime as dt
import os
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from dbt.cli.main import dbtRunner, dbtRunnerResult
from pyspark.sql import Row, SparkSession

ROOT: Final = Path(__file__).resolve().parent.parent.parent
SCHEMAS: Final = ("bronze", "silver", "gold", "ops")

_INGEST: Final = (
    "_ingested_at timestamp, _batch_id bigint, _source string, _partition int, _offset bigint, "
    "_key binary, _headers array<struct<key: string, value: binary>>, _timestamp timestamp, "
    "_schema_id string, _event_date date, _event_type string, _rescued string"
)
_CHANGE: Final = "Op string, commit_timestamp timestamp, AR_H_CHANGE_SEQ string"
BRONZE: Final[Mapping[str, str]] = {
    "shop__orders": f"{_INGEST}, {_CHANGE}, order_id bigint, customer_id bigint, "
    "vehicle_id bigint, status string, amount decimal(12,2), placed_at timestamp, "
    "updated_at timestamp",
    "shop__customers": f"{_INGEST}, {_CHANGE}, customer_id bigint, name string, email string, "
    "city string, segment string, created_at timestamp, updated_at timestamp",
    "shop__vehicles": f"{_INGEST}, {_CHANGE}, vehicle_id bigint, vin string, make string, "
    "model string, model_year int, mileage_km int, price_eur_cents bigint, status string, "
    "listed_at timestamp, updated_at timestamp",
    "market__app_events": f"{_INGEST}, insertId string, timestamp timestamp, "
    "receiveTimestamp timestamp, severity string, logName string, "
    "jsonPayload struct<event_type: string, user_id: bigint, session_id: string, "
    "device: struct<os: string, app_version: string>, page: string, referrer: string, "
    "duration_ms: bigint, vehicle_id: bigint, order_id: bigint, truck_id: string, "
    "price: decimal(12,2), amount_eur_cents: bigint, delay_minutes: bigint>",
    "moved__parcels": f"{_INGEST}, op string, seq bigint, parcel string, line int, day date, "
    "weight bigint",
    "fleet__positions": f"{_INGEST}, truck_id string, latitude double, longitude double, "
    "recorded_at timestamp, order_id bigint",
}
PAYLOAD: Final = (
    *("event_type", "user_id", "session_id", "device", "page", "referrer", "duration_ms"),
    *("vehicle_id", "order_id", "truck_id", "price", "amount_eur_cents", "delay_minutes"),
)
NOON: Final = dt.datetime(2026, 3, 2, 12, tzinfo=dt.UTC)

Record = Mapping[str, Any]


@dataclass(slots=True)
class Lake:
    """The lake of this test process. One folder for all tests, emptied before each."""

    path: Path
    target: Path
    profiles: Path = ROOT
    project: Path = ROOT
    _batch: int = 0

    @property
    def spark(self) -> SparkSession:
        """The session that dbt has started."""
        return SparkSession.builder.getOrCreate()

    def empty(self) -> None:
        """Forget everything: tables, catalog entries, files."""
        for schema in SCHEMAS:
            self.spark.sql(f"drop schema if exists {schema} cascade")
            shutil.rmtree(self.path / schema, ignore_errors=True)
        self.forget_logs()
        self._batch = 0

    def forget_logs(self) -> None:
        """Delta keeps tables' logs in memory, and tables of the same name come again."""
        jvm: Any = self.spark._jvm
        jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()

    def land(self, table: str, records: Iterable[Record]) -> None:
        """Append a batch to a bronze table as `ingest` does: by path, with the next number."""
        land(self.spark, self.path, table, records, batch=self._batch)
        self._batch += 1

    def dbt(self, *arguments: str, note: Callable[[Any], None] | None = None) -> dbtRunnerResult:
        """A dbt command in this process, by default on the checked-in project.

        `note` is given each event of it.
        """
        return dbtRunner(callbacks=[note] if note else None).invoke(
            [
                *arguments,
                *("--project-dir", str(self.project), "--profiles-dir", str(self.profiles)),
                *("--target-path", str(self.target), "--log-path", str(self.target)),
                *("--log-level", "none", "--quiet"),
            ]
        )

    def build(self, *select: str, full_refresh: bool = False, tests: bool = False) -> Any:
        """Build seeds and models; gives the results by the node's name."""
        arguments = ["build"]
        if not tests:
            arguments += ["--exclude-resource-type", "test", "unit_test"]
        if select:
            arguments += ["--select", *select]
        if full_refresh:
            arguments.append("--full-refresh")
        answer = self.dbt(*arguments)
        results: Any = answer.result
        assert answer.success, answer.exception or [
            f"{result.node.name}: {result.message}"
            for result in results
            if result.status not in ("success", "pass", "skipped", "no-op")
        ]
        return {result.node.name: result for result in results}

    def properties(self, table: str) -> dict[str, str]:
        """Properties of a table, by name."""
        rows = self.spark.sql(f"show tblproperties {table}").collect()
        return {row.key: row.value for row in rows}

    def folder(self, table: str) -> Path:
        """Where a table lies."""
        return self.path / table.replace(".", "/")

    def rows(self, table: str, *columns: str, version: int | None = None) -> list[Row]:
        """Rows of a table by path, in one order; without the columns that count builds."""
        reader = self.spark.read.format("delta")
        if version is not None:
            reader = reader.option("versionAsOf", version)
        frame = reader.load(str(self.folder(table)))
        ours = ("_ingested_at", "_batch_id", "_build_id")
        chosen = columns or [name for name in frame.columns if name not in ours]
        return sorted(frame.select(*chosen).collect(), key=str)

    def version(self, table: str) -> int:
        """How many commits a table has seen; tells whether a build wrote to it."""
        log = self.folder(table) / "_delta_log"
        return max(int(file.stem) for file in log.glob("[0-9]*.json"))


def small_profile() -> str:
    """The checked-in profile, for tables of a few rows: one task a stage, where it has two.

    A task that finds nothing costs as much as one with all the rows. What dbt runs in processes of
    its own has the checked-in profile.
    """
    text = (ROOT / "profiles.yml").read_text(encoding="utf-8")
    setting = "spark.sql.shuffle.partitions"
    assert f'{setting}: "2"' in text
    return text.replace(f'{setting}: "2"', f'{setting}: "1"')


def land(
    spark: SparkSession, lake: Path, table: str, records: Iterable[Record], *, batch: int
) -> None:
    """Append `records` to `bronze.<table>` of any lake."""
    schema = BRONZE[table]
    names = [field.name for field in spark.createDataFrame([], schema).schema]
    ours = {"_batch_id": batch, "_ingested_at": NOON, "_source": "a test"}
    rows = [tuple({**record, **ours}.get(name) for name in names) for record in records]
    folder = lake / "bronze" / table
    is_new = not (folder / "_delta_log").is_dir()
    spark.createDataFrame(rows, schema).coalesce(1).write.format("delta").mode("append").option(
        "mergeSchema", "true"
    ).save(str(folder))
    if is_new:
        registry = "table_name string, stream string, kind string, created_at timestamp"
        entry = [(table, table.replace("__", "."), "bronze", NOON)]
        spark.createDataFrame(entry, registry).write.format("delta").mode("append").save(
            str(lake / "ops" / "stream_tables")
        )


def change(sequence: int, operation: str | None = "U", **columns: Any) -> Record:
    """A change of the shop's database; sequence 0 stands for the full load."""
    return {
        "Op": operation if sequence else None,
        "AR_H_CHANGE_SEQ": f"{sequence:035d}" if sequence else None,
        "commit_timestamp": NOON,
        "updated_at": NOON + dt.timedelta(seconds=sequence),
        **columns,
    }


def order(
    order_id: int, sequence: int, operation: str | None = "U", amount: int = 0, **columns: Any
) -> Record:
    """A change of an order; `amount` is whole euros."""
    defaults = {
        "customer_id": order_id % 5,
        "vehicle_id": order_id % 7,
        "status": "placed",
        "amount": Decimal(amount),
        "placed_at": NOON + dt.timedelta(days=order_id % 3),
    }
    return change(sequence, operation, **({"order_id": order_id} | defaults | columns))


def event(event_id: str, event_type: str, at: dt.datetime = NOON, **payload: Any) -> Record:
    """An application event."""
    values = {"event_type": event_type, "session_id": f"s{event_id}", **payload}
    return {
        "insertId": event_id,
        "timestamp": at,
        "receiveTimestamp": at,
        "severity": "INFO",
        "jsonPayload": tuple(values.get(name) for name in PAYLOAD),
        "_event_date": at.date(),
        "_event_type": event_type,
    }


@contextlib.contextmanager
def environment(**values: str) -> Any:
    """Set variables of this process for a while."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def names(rows: Sequence[Row], column: str) -> list[Any]:
    """One column of some rows."""
    return [row[column] for row in rows]
