"""What `make live` lands, keeps and builds, by hand: plain Spark, until its process is ended.

A streaming query for each topic, with schemas known beforehand, appended to Delta back to back;
for the database also merges into the table of living customers, and one model after the other by
merges and `replaceWhere`. Nothing is checked, rescued, quarantined, evolved or compacted, deleted
rows are not remembered, and no dbt runs. Marks of models stand where `ingest serve` has them.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro

from ingest import settings
from ingest.client_properties import kafka_properties
from ingest.connectors.postgres_connector import PostgresConnector
from ingest.declarations.project import declared_streams
from ingest.sources.kafka_source import COLUMN_EXPRESSIONS
from ingest.spark.kafka_admin import BrokerAdmin
from ingest.spark.session import POOLS, session
from ingest.storage.layout import Lake
from live.events import TOPICS, avro_schemas

WITH_DATABASE = "with-database"
# Jobs take turns, as in `ingest serve`.
_TURNS = f'-Dspark.scheduler.mode=FAIR "-Dspark.scheduler.allocation.file=file:{POOLS}"'
# Seconds between two looks at what has landed.
_PAUSE = 0.2
_JSON = {
    "live.page_views": "view_id string, page string, duration_ms bigint, viewed_at timestamp",
    "live.positions": "truck_id string, latitude double, longitude double, recorded_at timestamp",
}
_TABLES = {
    "customers": "customer_id bigint, name string, city string, about string, updated_at string",
    "orders": (
        "order_id bigint, customer_id bigint, status string, amount string, placed_at string"
    ),
}
_CHANGE = (
    "payload struct<op: string, before: struct<{row}>, after: struct<{row}>, "
    "source: struct<lsn: bigint, ts_ms: bigint>, transaction: struct<total_order: bigint>>"
)
_SEQUENCE = "struct(source_lsn, transaction_order)"
# What Debezium writes where a long value did not change.
_UNCHANGED = "__debezium_unavailable_value"
_ORDERS = {
    "order_id": "order_id",
    "customer_id": "customer_id",
    "order_status": "status",
    # Debezium's decimals are bytes.
    "amount_eur_cents": "cast(conv(hex(unbase64(amount)), 16, 10) as bigint)",
    "placed_at": "cast(placed_at as timestamp)",
}
_CUSTOMERS = {
    "customer_id": "customer_id",
    "name": "name",
    "city": "city",
    "about": f"nullif(about, '{_UNCHANGED}')",
    "updated_at": "cast(updated_at as timestamp)",
}


class ByHand:
    """Lands topics, and tables where they are followed; `newest` is the last batch of each."""

    def __init__(self, spark: SparkSession, lake: Lake) -> None:
        self._spark, self._lake = spark, lake
        self._newest: dict[str, int] = {}
        self._read: dict[str, int] = {}
        self._made: set[str] = set()

    def land_topics(self) -> None:
        """Start a query for each topic of events."""
        for topic in TOPICS:
            messages = self._messages(topic)
            rows = _of_avro(messages) if topic not in _JSON else _of_json(messages, _JSON[topic])
            self._land(rows, topic.replace(".", "__"))

    def land_tables(self) -> None:
        """Start a query for each table."""
        for table, kind in _TABLES.items():
            row = kind.replace(" ", ": ").replace(",:", ",")
            rows = _of_changes(self._messages(f"live.public.{table}"), _CHANGE.format(row=row))
            self._land(rows, f"live__{table}")

    def keep(self) -> None:
        """Keep the living customers, again and again."""
        self._again_and_again({"": ("live__customers", self._keep_customers)})

    def build(self) -> None:
        """Build the models, again and again."""
        self._again_and_again(
            {
                "silver.live_orders_current": ("live__orders", self._build_orders),
                "silver.live_page_view_events": ("live__page_views", self._build_views),
                "gold.agg_live_page_views_minutely": ("live__page_views", self._build_minutes),
            }
        )

    def _again_and_again(
        self, models: Mapping[str, tuple[str, Callable[[DataFrame], None]]]
    ) -> None:
        while True:
            marks = []
            # All models of a round see the same.
            there = dict(self._newest)
            for model, (name, build) in models.items():
                newest, read = there.get(name, -1), self._read.get(model, -1)
                if newest > read:
                    build(self._at(self._lake.bronze(name)).where(_between(read, newest)))
                    self._read[model] = newest
                    marks += [(model, newest)] if model else []
            if marks:
                told = self._spark.createDataFrame(marks, "model string, mark bigint")
                told = told.withColumn("recorded_at", F.current_timestamp())
                self._append(told, self._lake.table("ops", "model_marks"))
            elif there == self._newest:
                time.sleep(_PAUSE)

    def _messages(self, topic: str) -> DataFrame:
        properties = kafka_properties(self._lake)
        return (
            self._spark.readStream.format("kafka")
            .options(**{f"kafka.{name}": value for name, value in properties.items()})
            .option("subscribe", topic)
            .option("startingOffsets", "earliest")
            .option("includeHeaders", "true")
            .load()
            .selectExpr(*COLUMN_EXPRESSIONS)
        )

    def _land(self, rows: DataFrame, name: str) -> None:
        path = self._lake.bronze(name)

        def append(batch: DataFrame, number: int) -> None:
            numbered = batch.withColumn("_batch_id", F.lit(number).cast("bigint"))
            # In front, where Delta keeps statistics: by them it is told when a batch was committed.
            self._append(numbered.select("_batch_id", *batch.columns), path)
            self._newest[name] = number

        checkpoint = self._lake.url(self._lake.checkpoint(name))
        rows.writeStream.option("checkpointLocation", checkpoint).foreachBatch(append).start()

    def _keep_customers(self, changes: DataFrame) -> None:
        path = self._lake.bronze("live__customers__current")
        self._merge(changes, _CUSTOMERS, "customer_id", path)

    def _build_orders(self, changes: DataFrame) -> None:
        path = self._lake.table("silver", "live_orders_current")
        self._merge(changes, _ORDERS, "order_id", path)

    def _merge(self, changes: DataFrame, columns: dict[str, str], key: str, path: str) -> None:
        """The newest change of each key, by a merge that lets no older one pass."""
        named = changes.selectExpr(
            *(f"{sql} as {name}" for name, sql in columns.items()),
            "op",
            f"{_SEQUENCE} as sequence",
        )
        newest = named.groupBy(key).agg(
            *(
                # What did not change is what was sent last.
                F.expr(f"max_by({name}, sequence) filter (where {name} is not null) as {name}")
                if name == "about"
                else F.expr(f"max_by({name}, sequence) as {name}")
                for name in (*columns, "op")
                if name != key
            ),
            F.expr("max(sequence) as sequence"),
        )
        newest.createOrReplaceTempView(f"newest_{key}")
        self._make(newest.drop("op"), path)
        kept = [name for name in (*columns, "sequence") if name != key]
        sets = ", ".join(
            f"{one} = {'coalesce(new.about, old.about)' if one == 'about' else f'new.{one}'}"
            for one in kept
        )
        names = ", ".join((key, *kept))
        self._spark.sql(
            f"merge into delta.`{path}` as old using newest_{key} as new on old.{key} = new.{key} "
            "when matched and new.sequence > old.sequence and new.op = 'd' then delete "
            f"when matched and new.sequence > old.sequence then update set {sets} "
            f"when not matched and new.op <> 'd' then insert ({names}) "
            f"values ({', '.join(f'new.{one}' for one in (key, *kept))})"
        )

    def _build_views(self, views: DataFrame) -> None:
        path = self._lake.table("silver", "live_page_view_events")
        new = views.selectExpr(
            *("view_id", "page", "duration_ms", "viewed_at", "_batch_id"),
            "date_trunc('minute', viewed_at) as minute_started_at",
        ).dropDuplicates(["view_id"])
        self._make(new, path)
        new.createOrReplaceTempView("new_views")
        self._spark.sql(
            f"merge into delta.`{path}` as old using new_views as new "
            "on old.view_id = new.view_id when not matched then insert *"
        )

    def _build_minutes(self, views: DataFrame) -> None:
        minute = "cast(date_trunc('minute', viewed_at) as string) as minute"
        minutes = views.selectExpr(minute).distinct().collect()
        texts = ", ".join(f"timestamp'{row.minute}'" for row in minutes)
        touched = f"minute_started_at in ({texts})"
        counted = (
            self._at(self._lake.table("silver", "live_page_view_events"))
            .where(touched)
            .groupBy("minute_started_at", "page")
            .agg(F.expr("count(*) as view_count"), F.expr("avg(duration_ms) as average_ms"))
        )
        path = self._lake.table("gold", "agg_live_page_views_minutely")
        self._make(counted, path)
        writer = counted.write.format("delta").mode("overwrite").option("replaceWhere", touched)
        writer.save(path)

    def _make(self, rows: DataFrame, path: str) -> None:
        """An empty table with the columns of these rows, where there is none."""
        if path not in self._made:
            rows.limit(0).write.format("delta").mode("ignore").save(path)
            self._made.add(path)

    def _append(self, rows: DataFrame, path: str) -> None:
        rows.write.format("delta").mode("append").save(path)

    def _at(self, path: str) -> DataFrame:
        return self._spark.read.format("delta").load(path)


def _between(read: int, newest: int) -> str:
    return f"_batch_id > {read} and _batch_id <= {newest}"


def _of_json(messages: DataFrame, schema: str) -> DataFrame:
    row = F.from_json(F.expr("cast(value as string)"), schema)
    return messages.withColumn("row", row).select("*", "row.*").drop("value", "row")


def _of_avro(messages: DataFrame) -> DataFrame:
    """A column for each type of event, and the time that a header has."""
    body = F.expr("substring(value, 6)")
    headers = {
        name: F.expr(f"cast(filter(_headers, one -> one.key = 'ce_{name}')[0].value as string)")
        for name in ("id", "type", "time")
    }
    rows = messages.withColumns({**headers, "time": headers["time"].cast("timestamp")})
    for kind, schema in avro_schemas().items():
        event = F.when(F.col("type") == kind, from_avro(body, json.dumps(schema)))
        rows = rows.withColumn(kind, event)
    return rows.drop("value")


def _of_changes(messages: DataFrame, schema: str) -> DataFrame:
    """A row for each change, and what is told of it."""
    told = messages.withColumn("told", F.from_json(F.expr("cast(value as string)"), schema))
    return told.selectExpr(
        *(name for name in messages.columns if name != "value"),
        "told.payload.op as op",
        "told.payload.source.lsn as source_lsn",
        "told.payload.source.ts_ms as source_ts_ms",
        "coalesce(told.payload.transaction.total_order, 0) as transaction_order",
        "inline(array(if(told.payload.op = 'd', told.payload.before, told.payload.after)))",
    )


def _follow(spark: SparkSession, lake: Lake) -> None:
    """Have the connector, as anybody would ask Kafka Connect for it."""
    (stream,) = declared_streams(("source:live.orders",))
    database = stream.database
    if database is None:
        raise RuntimeError(f"{stream.name} is of no database")
    admin = BrokerAdmin(spark, kafka_properties(lake))
    try:
        PostgresConnector(lake, database).follow(admin)
    finally:
        admin.close()


def main() -> None:
    """Land events; with an argument also the database, and build the models."""
    lake = Lake(os.environ["HEADWATER_LAKE"])
    if WITH_DATABASE in sys.argv:
        # As `ingest serve` has them.
        options = f"{_TURNS} {settings.java_options()}"
        os.environ["HEADWATER_JAVA_OPTIONS"] = options
    spark = session("bench", lake.root)
    by_hand = ByHand(spark, lake)
    if WITH_DATABASE in sys.argv:
        _follow(spark, lake)
        for work in (by_hand.keep, by_hand.build):
            threading.Thread(target=_or_end, args=(work,), daemon=True).start()
    # As in `ingest serve`: jobs of streams and of builds take turns at the cores.
    spark.sparkContext.setLocalProperty("spark.scheduler.pool", "streams")
    if WITH_DATABASE in sys.argv:
        by_hand.land_tables()
    by_hand.land_topics()
    spark.streams.awaitAnyTermination()


def _or_end(work: Callable[[], None]) -> None:
    """Work; what fails ends the process, as a thread that is gone is seen by nobody."""
    try:
        work()
    except Exception:
        traceback.print_exc()
        os._exit(1)


if __name__ == "__main__":
    main()
