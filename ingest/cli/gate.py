"""`ingest check --against`, and `ingest schema register`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ingest.contracts.comparison import Finding

# Anything else is a git revision; for a branch of this name give refs/heads/registry.
_REGISTRY = "registry"


def check_against(there: str, select: Sequence[str], exclude: Sequence[str], is_json: bool) -> None:
    """Print the changes against the registry or a git revision. Raises SchemaRefused."""
    from ingest.cli import show
    from ingest.errors import SchemaRefused

    show.step(f"comparing the dbt project with {there}")
    findings = _findings(there, select, exclude)
    refused = [one for one in findings if one.is_refused]
    if is_json:
        show.as_json({"against": there, "changes": [_row(one) for one in findings]})
    elif not findings:
        show.line(f"no change against {there} affects producers or readers")
    for one in () if is_json else findings:
        show.line(_line(one))
    if refused:
        count = "1 change" if len(refused) == 1 else f"{len(refused)} changes"
        streams = ", ".join(sorted({one.stream for one in refused}))
        raise SchemaRefused(f"{count} against {there} refused: {streams}")


def register(select: Sequence[str], exclude: Sequence[str], is_json: bool) -> None:
    """Register declared schemas, and print each subject. Raises SchemaRefused."""
    from dataclasses import asdict

    from ingest import settings
    from ingest.cli import show
    from ingest.client_properties import schema_registry_properties
    from ingest.contracts.registration import register as registered
    from ingest.declarations.project import declared_streams
    from ingest.errors import SelectionEmpty
    from ingest.registry.client import SchemaRegistry
    from ingest.storage.layout import Lake

    show.step("reading the dbt project")
    streams = [
        one
        for one in declared_streams(select, exclude)
        if one.avro.schema or one.avro.compatibility
    ]
    if not streams:
        raise SelectionEmpty("no chosen stream declares avro.schema or avro.compatibility")
    registry = SchemaRegistry(schema_registry_properties(Lake(settings.lake())))
    rows = [asdict(each) for one in streams for each in registered(registry, one)]
    if is_json:
        show.as_json(rows)
    else:
        show.table("subjects", rows)


def _findings(there: str, select: Sequence[str], exclude: Sequence[str]) -> list[Finding]:
    from ingest import settings
    from ingest.client_properties import schema_registry_properties
    from ingest.contracts.comparison import against_registry, against_revision
    from ingest.contracts.promises import promised
    from ingest.contracts.revisions import promised_at
    from ingest.declarations.project import declared_streams, parsed
    from ingest.lineage.readers import readers_of
    from ingest.lineage.rendering import renderer
    from ingest.registry.client import SchemaRegistry
    from ingest.storage.layout import Lake

    # First: what dbt has parsed last is what models are rendered by.
    before = {} if there == _REGISTRY else promised_at(there)
    manifest = parsed()
    now = promised(declared_streams(select, exclude, manifest))
    reads = partial(readers_of, manifest, renderer(manifest))
    if there != _REGISTRY:
        return list(against_revision(now, before, there, reads))
    registry = SchemaRegistry(schema_registry_properties(Lake(settings.lake())))
    return list(against_registry(now, registry, reads))


def _row(finding: Finding) -> dict[str, object]:
    readers = finding.readers
    return {
        "stream": finding.stream,
        "column": finding.column,
        "change": finding.change,
        "is_refused": finding.is_refused,
        "models": readers.models,
        "exposures": readers.exposures,
        "may_read": dict(readers.unresolved),
    }


def _line(finding: Finding) -> str:
    readers = finding.readers
    parts = [
        ("models", ", ".join(readers.models)),
        ("exposures", ", ".join(readers.exposures)),
        ("perhaps", "; ".join(f"{name} ({why})" for name, why in readers.unresolved.items())),
    ]
    read_by = "; ".join(f"{kind} {names}" for kind, names in parts if names)
    text = f"{'refused' if finding.is_refused else 'allowed'}: {finding.stream}"
    text += f", column {finding.column}: " if finding.column else ": "
    text += finding.change
    if finding.column:
        text += f"; read by {read_by}" if read_by else "; no model reads it"
    return " ".join(text.split())
