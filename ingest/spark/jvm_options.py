"""Options of the driver's JVM."""

from __future__ import annotations

from ingest import settings

# Paths, texts and times mean the same on every machine. Avro does not trust the sizes that a broken
# message states: the JVM would run out of memory.
COMMON = (
    "-Dfile.encoding=UTF-8 -Dstdout.encoding=UTF-8 -Duser.timezone=UTC "
    "-Dorg.apache.avro.limits.bytes.maxLength=67108864 "
    "-Dorg.apache.avro.limits.string.maxLength=67108864 "
    "-Dorg.apache.avro.limits.collectionItems.maxLength=10000000"
)
# A driver that runs for long compiles new code at each build. When the default of 240 MB is full,
# Java discards compiled code that it needs again.
CODE_CACHE = "-XX:ReservedCodeCacheSize=512m"

# Set-up writes this archive of Spark's classes, in the project.
CLASSES = ".jars/classes.jsa"
# Java would warn where it cannot use the archive.
_SILENTLY = "-Xlog:cds=off -Xlog:cds+dynamic=off"


def class_archive() -> str:
    """Options that map the class archive into memory; none where set-up has written no archive.

    With an archive that does not exist, Java would ignore its own archive too.
    """
    archive = settings.project_dir() / CLASSES
    return f'"-XX:SharedArchiveFile={archive}" {_SILENTLY}' if archive.exists() else ""
