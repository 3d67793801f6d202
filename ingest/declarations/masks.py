"""Columns whose values nobody may see."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ingest.declarations.datatypes import data_type
from ingest.declarations.stream import Format, Mask
from ingest.declarations.values import Path, split_path

_CHOICES = tuple(one.value for one in Mask)


def declared_masks(columns: Mapping[str, Any]) -> Mapping[Path, Mask]:
    """The mask of each column that has one, by its path."""
    pairs = ((column["name"], _declared_mask(column)) for column in columns.values())
    return {split_path(name): Mask(mask) for name, mask in pairs if mask is not None}


def dropped_columns(columns: Mapping[str, Any]) -> set[Path]:
    """Paths of the columns that there are not, by their masks."""
    masks = ((column["name"], _declared_mask(column)) for column in columns.values())
    return {split_path(name) for name, mask in masks if mask == Mask.DROP.value}


def mask_problems(
    columns: Mapping[str, Any], declared: Mapping[str, Any]
) -> Iterator[tuple[str, str]]:
    """Each (key, reason) why masks cannot be honoured."""
    for column in columns.values():
        where, mask = f"columns.{column['name']}.config.meta.mask", _declared_mask(column)
        if mask is None:
            continue
        if mask not in _CHOICES:
            yield where, f"{mask!r} is not one of {', '.join(_CHOICES)}"
        elif not Format(declared["format"]).is_read_as_json:
            yield where, f"has no meaning with format {declared['format']}"
        elif column.get("data_type") and data_type(column["data_type"]) != data_type("string"):
            yield where, "goes with a column of data_type string"
        groups = [declared, *declared.get("event_groups", ())]
        if any(one.get("on_incompatible_change") == "quarantine" for one in groups):
            yield where, "does not go with on_incompatible_change: quarantine"
        for key in ("schema", "subject"):
            if key in declared.get("avro", {}):
                yield where, f"does not go with avro.{key}: messages are read as they were written"


def _declared_mask(column: Mapping[str, Any]) -> Any:
    meta = {**column.get("meta", {}), **column.get("config", {}).get("meta", {})}
    return meta.get("mask")
