"""Keep the classes that Spark loads at each start as Java has them in memory.

    python -m scripts.classes

Each start of Spark reads, checks and links some twenty thousand classes out of three hundred jars.
Java can keep them as an archive that the next start maps into its memory ("application class data
sharing"). One that was made of other jars or by another Java is passed over.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ingest.spark.jvm_options import CLASSES
from ingest.spark.session import driver_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).resolve().parent.parent
# A bit of all that commands do; what is not loaded here is loaded as always.
_STATEMENTS = """
create schema s;
create table s.t (id bigint, name string, at timestamp, amount decimal(12,2), data variant)
    using delta cluster by (id) tblproperties ('delta.enableDeletionVectors' = 'true');
insert into s.t
    select id, concat('n', id), current_timestamp(), id, parse_json('{"a": [1, "b"]}')
    from range(100);
merge with schema evolution into s.t as old
    using (select id + 50 as id, 'x' as name from range(100)) as new on old.id = new.id
    when matched and new.id > 90 then delete
    when matched then update set name = new.name
    when not matched then insert *;
delete from s.t where id = 1;
alter table s.t add columns (more string);
create view s.v as
    select name, count(*) as n, row_number() over (partition by name order by max(id)) as place
    from s.t group by name;
select v.*, variant_get(t.data, '$.a[0]', 'int') from s.v join s.t using (name);
insert into s.t replace where id > 120 select * from s.t where id > 120;
optimize s.t;
describe history s.t
"""
# Seconds that Java may take to write it.
_TO_END = 120.0
_KAFKA = (
    "org.apache.spark.sql.kafka010.KafkaSourceProvider",
    "org.apache.kafka.clients.admin.KafkaAdminClient",
    "org.apache.kafka.clients.consumer.KafkaConsumer",
)


def main() -> int:
    """Returns 0 also where there will be no archive: Spark starts without one, too."""
    archive = ROOT / CLASSES
    new = archive.with_suffix(".new")
    for one in (archive, new):
        one.unlink(missing_ok=True)
    os.chdir(ROOT)
    os.environ["HEADWATER_JAVA_OPTIONS"] = (
        f'-XX:TieredStopAtLevel=1 "-XX:ArchiveClassesAtExit={new}"'
    )
    try:
        # Java may still write there, where something has gone wrong.
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as lake:
            _make(lake)
        _save(new, archive)
    except Exception as error:  # Spark's, Java's or the disk's
        print(f"no archive of classes: {error}", file=sys.stderr)
    finally:
        new.unlink(missing_ok=True)
    return 0


def _make(lake: str) -> None:
    # Nobody else knows this lake, so its catalog need not be held.
    spark = driver_session(lake, {})
    try:
        _work(spark, lake)
    finally:
        _end(spark)


def _save(new: Path, archive: Path) -> None:
    """Give it its name when all of it is on the disk: Java dies of one that is cut off."""
    with new.open("rb") as file:
        os.fsync(file.fileno())
    new.replace(archive)


def _work(spark: SparkSession, lake: str) -> None:
    for statement in _STATEMENTS.split(";"):
        spark.sql(statement).collect()
    table = f"{lake}/s.db/t"
    query = (
        spark.readStream.format("delta")
        .option("ignoreChanges", "true")
        .load(table)
        .writeStream.option("checkpointLocation", f"{lake}/checkpoint")
        .foreachBatch(lambda rows, _: rows.write.format("delta").mode("append").save(f"{lake}/u"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    spark.table("s.v").mapInArrow(lambda batches: batches, spark.table("s.v").schema).toArrow()
    jvm: Any = spark._jvm
    for name in _KAFKA:
        jvm.java.lang.Class.forName(name)


def _end(spark: SparkSession) -> None:
    """Wait until Java has ended, which writes the archive then."""
    gateway: Any = spark.sparkContext._gateway
    spark.stop()
    gateway.shutdown()
    gateway.proc.stdin.close()
    if code := gateway.proc.wait(_TO_END):
        raise RuntimeError(f"Java ended with {code}")


if __name__ == "__main__":
    sys.exit(main())
