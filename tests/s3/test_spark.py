"""Spark on S3: tables, streams, several writers of one table, and what a batch costs."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from pyspark.sql import SparkSession

from ingest.declarations.reading import read_stream
from ingest.runtime.progress import ProgressLog
from ingest.runtime.stream_query import StreamQuery, Trigger
from ingest.spark.session import session, stop
from ingest.stack.s3 import BUCKET, SECRET
from ingest.storage.layout import Lake, storage_at
from tests.s3.faults import FaultyProxy
from tests.s3_server import S3Server
from tests.spark.workshop import node

LAKE = f"s3a://{BUCKET}/lake"
# Commits of each of three writers of one table.
COMMITS = 5

# Another driver, which appends as the first one does.
DRIVER = """
import sys
from ingest.spark.session import session
lake, table, commits = sys.argv[1], sys.argv[2], int(sys.argv[3])
spark = session("tests", lake)
print("started", flush=True)
sys.stdin.readline()
for number in range(commits):
    spark.range(number, number + 1).write.format("delta").mode("append").save(table)
spark.stop()
"""


@pytest.fixture(scope="module")
def spark(server: S3Server, standing_proxy: FaultyProxy) -> Iterator[SparkSession]:
    """A session of a lake on S3, whose requests the proxy sees."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in server.environ(standing_proxy.url).items():
            patch.setenv(name, value)
        spark = session("tests", LAKE)
        # Rows are few: to compile a query would take longer than to run it.
        spark.conf.set("spark.sql.codegen.wholeStage", "false")
        spark.conf.set("spark.sql.codegen.factoryMode", "NO_CODEGEN")
        spark.conf.set("spark.sql.shuffle.partitions", "1")
        yield spark
        stop(spark)


def ids(spark: SparkSession, table: str) -> list[int]:
    return sorted(row.id for row in spark.read.format("delta").load(table).collect())


def versions(server: S3Server, table: str) -> list[int]:
    log = server.path(table.removeprefix(f"s3a://{BUCKET}/")) / "_delta_log"
    return sorted(int(path.stem) for path in log.glob("*.json"))


def test_tables_are_appended_to_merged_and_compacted(spark: SparkSession) -> None:
    table = f"{LAKE}/bronze/merged"
    for start in (0, 5):
        rows = spark.range(start, start + 5).selectExpr("id", "'old' as state")
        rows.write.format("delta").mode("append").save(table)
    spark.sql(
        f"merge into delta.`{table}` as old using (select id, 'new' as state from range(8, 12)) "
        "as new on old.id = new.id when matched then update set * when not matched then insert *"
    )
    spark.sql(f"optimize delta.`{table}`")
    states = spark.read.format("delta").load(table).groupBy("state").count().collect()
    assert {row.state: row["count"] for row in states} == {"old": 8, "new": 4}
    # The same without Spark.
    assert DeltaTable(table).to_pyarrow_table().num_rows == 12


def test_a_stream_goes_on_from_a_checkpoint_on_s3(spark: SparkSession) -> None:
    source, sink = f"{LAKE}/bronze/source", f"{LAKE}/bronze/sink"
    for start in (0, 10):
        spark.range(start, start + 10).write.format("delta").mode("append").save(source)
        query = (
            spark.readStream.format("delta")
            .load(source)
            .writeStream.format("delta")
            .option("checkpointLocation", f"{LAKE}/_checkpoints/sink")
            .trigger(availableNow=True)
            .start(sink)
        )
        query.awaitTermination()
        assert query.exception() is None
    assert ids(spark, sink) == list(range(20))


@pytest.mark.long
def test_two_drivers_and_delta_rs_lose_no_commit_of_one_table(
    spark: SparkSession, server: S3Server
) -> None:
    table = f"{LAKE}/bronze/shared"
    spark.range(0).write.format("delta").save(table)
    other = subprocess.Popen(
        [sys.executable, "-c", DRIVER, LAKE, table, str(COMMITS)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert other.stdin
    assert other.stdout
    assert other.stdout.readline() == "started\n"

    def write_without_spark(numbers: Sequence[int]) -> None:
        for number in numbers:
            write_deltalake(table, pa.table({"id": pa.array([number], pa.int64())}), mode="append")

    thread = threading.Thread(target=write_without_spark, args=[range(COMMITS)])
    other.stdin.write("go\n")
    other.stdin.flush()
    thread.start()
    for number in range(COMMITS):
        spark.range(number, number + 1).write.format("delta").mode("append").save(table)
    thread.join()
    assert other.wait() == 0
    assert ids(spark, table) == sorted(list(range(COMMITS)) * 3)
    assert versions(server, table) == list(range(3 * COMMITS + 1))


def test_keys_are_in_no_setting_of_spark(spark: SparkSession) -> None:
    shown = [*spark.sparkContext.getConf().getAll(), *map(tuple, spark.sql("set -v").collect())]
    assert not [one for one in shown if SECRET in str(one)]


def test_a_batch_asks_the_server_no_more_often_than_spark_alone(
    spark: SparkSession, proxy: FaultyProxy
) -> None:
    """Spark alone: a stream of the same files into a Delta table; five requests are our own."""
    landing, lake = f"s3a://{BUCKET}/counted", Lake(LAKE)
    declared = {"from": "files", "path": landing, "format": "json", "max_files_per_trigger": 1}
    stream = read_stream(node("test.counted", declared, {"id": "bigint"}))

    def ours() -> None:
        query = StreamQuery(spark, lake, stream, ProgressLog(lake), lambda: datetime.now(UTC))
        query.discover()
        query.start(Trigger.AVAILABLE_NOW)
        query.wait()
        assert query.error is None

    def plain() -> None:
        reader = spark.readStream.schema("id bigint").option("maxFilesPerTrigger", 1)
        writer = reader.json(landing).writeStream.format("delta")
        checkpoint = writer.option("checkpointLocation", f"{LAKE}/_checkpoints/plain")
        query = checkpoint.trigger(availableNow=True).start(f"{LAKE}/bronze/plain")
        query.awaitTermination()

    def requests_of(files: range) -> list[int]:
        for number in files:
            storage_at(landing).put(f"{number}.json", b'{"id": %d}\n' % number)
        found = []
        for query in (ours, plain):
            proxy.seen.clear()
            query()
            found.append(len(proxy.seen))
        return found

    # The first batches make the tables; a query that starts asks for more than one that goes on.
    requests_of(range(1))
    one, three = requests_of(range(1, 2)), requests_of(range(2, 5))
    assert ids(spark, lake.bronze(stream.table)) == ids(spark, f"{LAKE}/bronze/plain")
    mine, theirs = ((many - few) / 2 for few, many in zip(one, three, strict=True))
    assert mine <= theirs + 5
