"""The project's streams, read through dbt's own parser.

So `dbt parse`, Jinja, variables and selectors mean the same in both.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, assert_never

from ingest import settings
from ingest.declarations.databases import with_whole_databases
from ingest.declarations.reading import read_stream
from ingest.declarations.stream import FileSource, KafkaSource, Source, Stream
from ingest.errors import DeclarationInvalid, ProjectUnreadable, SelectionEmpty

if TYPE_CHECKING:
    from dbt.contracts.graph.manifest import Manifest

# A folder of our own: dbt rewrites target/ at each command, and one may run beside us.
_TARGET = "target/ingest"
# A selector that matches nothing is a warning of dbt, and a mistake here.
_STRICT = ("--warn-error-options", "{error: [NoNodesForSelectionCriteria]}")
_WORDS = "use dbt's words, such as source:shop.* or source:shop.orders"


def declared_streams(
    select: Sequence[str] = (), exclude: Sequence[str] = (), manifest: Manifest | None = None
) -> list[Stream]:
    """The selected streams, by name; all of them are checked first.

    `manifest` is the project, where it has been parsed before. Raises DeclarationInvalid,
    ProjectUnreadable, SelectionEmpty.
    """
    manifest = manifest or parsed()
    streams, problems = _read(node.to_dict() for node in manifest.sources.values())
    problems += _shared_tables(streams)
    streams, shared = with_whole_databases(streams)
    problems += shared
    if problems:
        raise DeclarationInvalid(problems)
    if select or exclude:
        chosen = selected(manifest, ["source"], select, exclude)
        streams = [stream for stream in streams if stream.unique_id in chosen]
        if not streams:
            raise SelectionEmpty(f"--select {' '.join(select) or '*'} chooses no stream; {_WORDS}")
    if not streams:
        raise SelectionEmpty("no source of the project has config.meta.ingest")
    return sorted(streams, key=lambda stream: stream.name)


def _read(nodes: Any) -> tuple[list[Stream], list[tuple[str, str]]]:
    streams: list[Stream] = []
    problems: list[tuple[str, str]] = []
    for node in nodes:
        if "ingest" not in (node["config"].get("meta") or {}):
            continue
        try:
            streams.append(read_stream(node))
        except DeclarationInvalid as error:
            problems += error.problems
    return streams, problems


def _shared_tables(streams: Sequence[Stream]) -> list[tuple[str, str]]:
    owner: dict[str, Stream] = {}
    problems = []
    for stream in streams:
        for table in stream.tables:
            if table in owner:
                problems.append(
                    (
                        f"{stream.declared_in}: {stream.name}",
                        (
                            f"identifier: bronze.{table} already belongs to "
                            f"{owner[table].name} ({owner[table].declared_in})"
                        ),
                    )
                )
            owner[table] = stream
    return problems


def parsed(root: Path | None = None) -> Manifest:
    """What dbt makes of the project, or of another one below `root`. Raises ProjectUnreadable."""
    result = _dbt(["parse", "--no-write-json"], root=root)
    manifest: Manifest = result
    return manifest


def selected(
    manifest: Manifest, kinds: Sequence[str], select: Sequence[str], exclude: Sequence[str] = ()
) -> set[str]:
    """Ids of the nodes of some kinds that selectors choose. Raises SelectionEmpty for none."""
    arguments = ["ls", *_STRICT, "--output", "json", "--output-keys", "unique_id"]
    for kind in kinds:
        arguments += ["--resource-type", kind]
    if select:
        arguments += ["--select", *select]
    if exclude:
        arguments += ["--exclude", *exclude]
    lines: list[str] = _dbt(arguments, manifest)
    return {json.loads(line)["unique_id"] for line in lines}


def _dbt(
    arguments: Sequence[str], manifest: Manifest | None = None, root: Path | None = None
) -> Any:
    from dbt.cli.main import dbtRunner

    project = settings.project_dir()
    result = dbtRunner(manifest=manifest).invoke(
        [
            *arguments,
            "--project-dir",
            str(root or project),
            "--profiles-dir",
            str(project),
            "--target-path",
            str(Path(root or project, _TARGET)),
            "--log-level",
            "none",
            "--log-level-file",
            "none",
            "--quiet",
            "--no-use-colors",
            "--no-send-anonymous-usage-stats",
        ]
    )
    if not result.success and "does not match any enabled nodes" in str(result.exception):
        raise SelectionEmpty(f"the selection chooses nothing; {_WORDS}")
    if not result.success:
        raise ProjectUnreadable(f"dbt {arguments[0]}: {result.exception or result.result}")
    return result.result


def _source_text(source: Source) -> str:
    match source:
        case FileSource():
            return source.path
        case KafkaSource():
            return source.topic_pattern or ", ".join(source.topics)
        case _:
            assert_never(source)


def summary(stream: Stream) -> Mapping[str, object]:
    """What `ingest check --json` says of a stream."""
    return {
        "stream": stream.name,
        "table": f"bronze.{stream.table}",
        "declared_in": stream.declared_in,
        "source": _source_text(stream.source),
        "format": stream.format.value,
        "envelope": stream.envelope.value,
    }
