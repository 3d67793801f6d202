"""Files that somebody else has written, appended to a Delta table by Delta's own transaction.

Delta has no public call for it. Its transaction checks what others have committed meanwhile, and
makes the checkpoints, as in each of Spark's own writes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql import types as T

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Features of tables that ask nothing of who appends a file, or that Delta's transaction sees to.
_FEATURES = frozenset(
    {
        *("appendOnly", "invariants", "domainMetadata", "clustering", "deletionVectors"),
        *("typeWidening", "typeWidening-preview", "variantType", "variantType-preview"),
        *("timestampNtz", "vacuumProtocolCheck", "v2Checkpoint", "changeDataFeed"),
    }
)
# What Spark would see to when it writes: by properties of a table, and of a column.
_PROMISES = (
    *("delta.constraints.", "delta.columnMapping.", "delta.enableIcebergCompat"),
    "delta.autoOptimize.",
)
_OF_A_COLUMN = (
    *("delta.invariants", "delta.generationExpression", "delta.identity."),
    "__CHAR_VARCHAR_TYPE_STRING",
)


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file of a table's folder: its name, bytes, and when it was written (ms since 1970).

    `stats` is JSON, as Delta's log has it.
    """

    name: str
    size: int
    modified: int
    rows: int
    stats: str

    @property
    def add(self) -> str:
        """The action that adds it to its table, as Delta's log has it."""
        values = {
            "path": self.name,
            "partitionValues": {},
            "size": self.size,
            "modificationTime": self.modified,
            "dataChange": True,
            "stats": self.stats,
        }
        return json.dumps({"add": values})


class FileAppend:
    """One commit to the table at `path`, begun now."""

    def __init__(self, spark: SparkSession, path: str) -> None:
        jvm: Any = spark._jvm
        self._spark, self._java = spark, jvm
        self._delta = jvm.org.apache.spark.sql.delta
        self._transaction = self._delta.DeltaLog.forTable(
            spark._jsparkSession, path
        ).startTransaction()
        values = json.loads(self._transaction.metadata().json())["metaData"]
        protocol = json.loads(self._transaction.protocol().json())["protocol"]
        self.columns = T.StructType.fromJson(json.loads(values["schemaString"]))
        self.is_able = _is_plain(values, protocol, self.columns)

    def commit(self, files: Sequence[DataFile], user_metadata: str) -> None:
        """Make the files part of the table. Raises what Spark's own write would.

        The commit has `user_metadata`, and is made without files, too.
        """
        actions = self._java.java.util.ArrayList()
        for file in files:
            actions.add(self._delta.actions.Action.fromJson(file.add))
        none = self._java.scala.Option.empty()
        nothing = self._java.scala.Option.apply(self._seq(self._java.java.util.ArrayList()))
        mode = self._java.org.apache.spark.sql.SaveMode.Append
        write = getattr(self._delta, "DeltaOperations$Write")
        metadata = self._java.scala.Option.apply(user_metadata)
        operation = write(mode, nothing, none, metadata, *[none] * 5)
        self._show_metrics(
            {
                "numFiles": len(files),
                "numOutputRows": sum(file.rows for file in files),
                "numOutputBytes": sum(file.size for file in files),
            }
        )
        self._transaction.commit(self._seq(actions), operation)

    def _show_metrics(self, counts: Mapping[str, int]) -> None:
        """Have the table's history show what Spark's own writes show."""
        java, context = self._java, self._spark._jsc.sc()
        values = java.java.util.HashMap()
        for name, count in counts.items():
            metric = java.org.apache.spark.sql.execution.metric.SQLMetrics.createMetric(
                context, name
            )
            metric.set(count)
            values.put(name, metric)
        found = java.scala.jdk.javaapi.CollectionConverters.asScala(values)
        maps = getattr(getattr(java.scala.collection.immutable, "Map$"), "MODULE$")
        self._transaction.registerSQLMetrics(
            self._spark._jsparkSession, getattr(maps, "from")(found)
        )

    def _seq(self, found: Any) -> Any:
        return self._java.scala.jdk.javaapi.CollectionConverters.asScala(found).toSeq()


def _is_plain(table: Mapping[str, Any], protocol: Mapping[str, Any], kind: T.StructType) -> bool:
    """Whether nothing is promised of the table's rows that Spark would see to."""
    features = {*protocol.get("readerFeatures", ()), *protocol.get("writerFeatures", ())}
    return (
        features <= _FEATURES
        and not table["partitionColumns"]
        and not any(name.startswith(_PROMISES) for name in table["configuration"])
        and _are_free(kind)
    )


def _are_free(kind: T.DataType) -> bool:
    """Whether each member, however deep, may be null and is promised nothing."""
    if isinstance(kind, T.ArrayType):
        return kind.containsNull and _are_free(kind.elementType)
    if isinstance(kind, T.MapType):
        return kind.valueContainsNull and _are_free(kind.valueType)
    return not isinstance(kind, T.StructType) or all(
        one.nullable
        and not any(name.startswith(_OF_A_COLUMN) for name in one.metadata)
        and _are_free(one.dataType)
        for one in kind.fields
    )
