"""`ingest docs`: the types of events on dbt's docs page, each with its columns and its stream.

dbt's sources are written down in yml, and types come by themselves. So they are added to what
`dbt docs generate` has written, as sources below the stream's, and the page is made of it as dbt
makes it. The next dbt command writes its own artifacts again. Columns that nobody has described
have the words of their schemas of Avro.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from pyspark.sql import types as T

from ingest import settings
from ingest.declarations.reading import read_stream
from ingest.declarations.values import Path as ColumnPath
from ingest.declarations.values import split_path
from ingest.errors import DocsMissing
from ingest.event_types import ops_table
from ingest.event_types.columns import ATTRIBUTE
from ingest.event_types.ops_table import Registered
from ingest.event_types.views import PAYLOAD
from ingest.registry.descriptions import descriptions
from ingest.schemas import schema_log
from ingest.schemas.ingest_columns import INGEST
from ingest.spark.sql import sql_type
from ingest.storage.layout import Lake

Node = dict[str, Any]
# What Markdown makes nothing of inside a name; the page's list of columns shows the rest unread.
_PLAIN = "._- ,;()'?%"
_MEANINGS = {field.name: field.metadata["comment"] for field in INGEST.fields}


def write() -> Path:
    """Add all types to dbt's artifacts and write the static page; where it is."""
    target = settings.project_dir() / "target"
    manifest, catalog = _read(target / "manifest.json"), _read(target / "catalog.json")
    lake = Lake(settings.lake())
    add_types(manifest, catalog, ops_table.registered(lake))
    schemas = schema_log.avro_schemas(lake)
    descriptions_by_stream = {stream: descriptions(texts) for stream, texts in schemas.items()}
    add_descriptions(manifest, catalog, descriptions_by_stream)
    add_meanings(manifest, catalog)
    for name, artifact in (("manifest.json", manifest), ("catalog.json", catalog)):
        (target / name).write_text(json.dumps(artifact), encoding="utf-8")
    page = target / "static_index.html"
    page.write_text(static_page(manifest, catalog), encoding="utf-8")
    return page


def add_types(manifest: Node, catalog: Node, types: Sequence[Registered]) -> None:
    """Put types in the place of those that the artifacts have: nodes, columns and lineage."""
    for unique_id in [key for key, one in manifest["sources"].items() if _is_type(one)]:
        _forget(manifest, catalog, unique_id)
    streams = {
        f"{one['source_name']}.{one['name']}": one
        for one in manifest["sources"].values()
        if "ingest" in (one["config"].get("meta") or {})
    }
    for one in types:
        stream = streams.get(one.stream)
        if stream is None:
            continue
        node = _node(one, stream)
        unique_id = node["unique_id"]
        manifest["sources"][unique_id] = node
        beside = catalog["sources"].get(stream["unique_id"])
        catalog["sources"][unique_id] = _catalogued(one, stream, beside, unique_id)
        readers = _readers(manifest, node["relation_name"])
        manifest["parent_map"][unique_id] = [stream["unique_id"]]
        manifest["child_map"].setdefault(stream["unique_id"], []).append(unique_id)
        manifest["child_map"][unique_id] = readers
        for reader in readers:
            manifest["parent_map"].setdefault(reader, []).append(unique_id)


def add_descriptions(
    manifest: Node, catalog: Node, descriptions_by_stream: Mapping[str, Mapping[ColumnPath, str]]
) -> None:
    """Describe streams and their columns, by their names, where nobody else has."""
    for unique_id, source in manifest["sources"].items():
        texts = descriptions_by_stream.get(f"{source['source_name']}.{source['name']}")
        if not texts or "ingest" not in (source["config"].get("meta") or {}):
            continue
        if () in texts and not source["description"]:
            source["description"] = _as_html(texts[()])
        columns, there = source["columns"], catalog["sources"].get(unique_id, {"columns": {}})
        declared = {split_path(name): one for name, one in columns.items()}
        for path, text in texts.items():
            column = declared.get(path)
            if column is None and len(path) == 1 and path[0] in there["columns"]:
                column = columns[path[0]] = _column(path[0])
            if column is not None and not column["description"]:
                column["description"] = _as_html(text)


def add_meanings(manifest: Node, catalog: Node) -> None:
    """Describe the columns that each stream and each type has, where nobody else has.

    The page shows descriptions of yml alone, and not the comments of tables.
    """
    for unique_id, source in manifest["sources"].items():
        if unique_id not in catalog["sources"]:
            continue
        if "ingest" in (source["config"].get("meta") or {}) or _is_type(source):
            there = catalog["sources"][unique_id]["columns"]
            for name, meaning in _MEANINGS.items():
                if name in there:
                    column = source["columns"].setdefault(name, _column(name))
                    column["description"] = column["description"] or meaning


def static_page(manifest: Node, catalog: Node) -> str:
    """dbt's page with its data in it; names come from outside and must not end the script."""
    from dbt.task.docs import DOCS_INDEX_FILE_PATH

    page = Path(DOCS_INDEX_FILE_PATH).read_text(encoding="utf-8")
    for name, artifact in (("MANIFEST", manifest), ("CATALOG", catalog)):
        text = json.dumps(artifact).replace("</", "<\\/").replace("<!--", "<\\u0021--")
        page = page.replace(f'"{name}.JSON INLINE DATA"', text)
    return page


def _node(one: Registered, stream: Node) -> Node:
    """A source as dbt writes one, made after the stream's."""
    node = copy.deepcopy(stream)
    meta = {
        "event_type": one.event_type,
        "stream": one.stream,
        "version": one.version,
        "variations": len(one.variations),
        "events": one.events,
        "last_seen": _moment(one.last_seen),
        "first_seen": _moment(one.first_seen),
        "last_grown": _moment(one.last_grown),
    }
    node |= {
        "unique_id": f"source.{stream['package_name']}.{one.table_schema}.{one.table_name}",
        "fqn": [*stream["fqn"][:-2], one.table_schema, one.table_name],
        "schema": one.table_schema,
        "source_name": one.table_schema,
        "source_description": f"Types of events of source {stream['source_name']}.",
        "name": one.table_name,
        "identifier": one.table_name,
        "relation_name": one.name,
        "unrendered_schema": one.table_schema,
        "description": _description(one),
        "meta": meta,
        "columns": {field.name: _attribute(field) for field in _columns(one).fields},
        "unrendered_config": {},
    }
    node["config"] |= {"meta": meta}
    return node


def _description(one: Registered) -> str:
    kind = f"A view over {one.bronze_table}"
    if one.has_table:
        kind = f"A table of its own, in group {one.event_group}"
    waits = f" Waits for a decision: {_as_html(one.pending)}." if one.pending else ""
    return (
        f"Events of type {_as_html(one.event_type)}, which came in {one.stream}. "
        f"Version {one.version}, first seen {_moment(one.first_seen)}, last grown "
        f"{_moment(one.last_grown)}. {one.events} events landed, the last at "
        f"{_moment(one.last_seen)}.{waits} {kind}. One row per event."
    )


def _attribute(field: T.StructField) -> Node:
    attribute = field.metadata[ATTRIBUTE]
    return _column(field.name) | {
        "description": f"Attribute {_as_html(attribute)}.",
        "meta": {"attribute": attribute},
        "data_type": sql_type(field.dataType),
        "config": {"meta": {"attribute": attribute}, "tags": []},
    }


def _column(name: str) -> Node:
    """A column as dbt writes one of which nothing is said."""
    return {
        "name": name,
        "description": "",
        "meta": {},
        "data_type": None,
        "constraints": [],
        "quote": None,
        "config": {"meta": {}, "tags": []},
        "tags": [],
        "granularity": None,
        "doc_blocks": [],
    }


def _catalogued(
    one: Registered, stream: Node, beside: Mapping[str, Any] | None, unique_id: str
) -> Node:
    """What dbt would have found of it in its catalog."""
    payload = read_stream(stream).events.payload
    shared = {
        name: column["type"]
        for name, column in (beside["columns"] if beside else {}).items()
        if (name,) != payload
    }
    own = {field.name: sql_type(field.dataType) for field in _columns(one).fields}
    kinds = {**shared, **own} | ({} if one.has_table else {PAYLOAD: "variant"})
    columns = {
        name: {"type": kind, "index": index, "name": name, "comment": _MEANINGS.get(name)}
        for index, (name, kind) in enumerate(kinds.items())
    }
    return {
        "metadata": {
            "type": "table" if one.has_table else "view",
            "schema": one.table_schema,
            "name": one.table_name,
            "database": None,
            "comment": None,
            "owner": beside["metadata"]["owner"] if beside else None,
        },
        "columns": columns,
        "stats": {
            "has_stats": {
                "id": "has_stats",
                "label": "Has Stats?",
                "value": False,
                "include": False,
                "description": "Indicates whether there are statistics for this table",
            }
        },
        "unique_id": unique_id,
    }


def _columns(one: Registered) -> T.StructType:
    return T.StructType.fromJson(json.loads(one.schema))


def _readers(manifest: Node, relation: str) -> list[str]:
    """The nodes whose text names a relation."""
    named = re.compile(rf"(?<![\w.]){re.escape(relation)}(?!\w)")
    return [
        unique_id
        for unique_id, node in manifest["nodes"].items()
        if named.search(node.get("compiled_code") or "")
    ]


def _is_type(source: Node) -> bool:
    return "event_type" in (source["config"].get("meta") or {})


def _forget(manifest: Node, catalog: Node, unique_id: str) -> None:
    del manifest["sources"][unique_id]
    catalog["sources"].pop(unique_id, None)
    for lines in (manifest["parent_map"], manifest["child_map"]):
        lines.pop(unique_id, None)
        for others in lines.values():
            if unique_id in others:
                others.remove(unique_id)


def _moment(at: datetime | None) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC" if at else "never"


def _as_html(text: str) -> str:
    """A text from outside, in words of HTML where Markdown might make something of it."""
    return "".join(one if one.isalnum() or one in _PLAIN else f"&#{ord(one)};" for one in text)


def _read(path: Path) -> Node:
    try:
        found: Node = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DocsMissing(f"{path}: {error}; run `dbt docs generate --static` first") from error
    return found
