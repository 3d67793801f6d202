"""What is declared of a table that follows changes; names are those of `apply_changes`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """How changes become rows. docs/reference/apply-changes.md says what each rule means."""

    keys: tuple[str, ...]
    sequence_by: tuple[str, ...] = ()
    snapshot_by: str = ""
    source_position: tuple[str, ...] = ()
    scd_type: int = 1
    apply_as_deletes: str = ""
    apply_as_truncates: str = ""
    deletes_win_ties: bool = True
    keep_deleted: bool = False
    tombstone_retention: str = "30 days"
    column_list: tuple[str, ...] = ()
    except_column_list: tuple[str, ...] = ()
    track_history_column_list: tuple[str, ...] = ()
    track_history_except_column_list: tuple[str, ...] = ()
    ignore_null_updates: bool = False
    ignore_null_updates_column_list: tuple[str, ...] = ()
    ignore_null_updates_except_column_list: tuple[str, ...] = ()
    columns_to_update: str | tuple[str, ...] = ()
    unavailable_value: str = ""
    start_column: str = "__START_AT"
    end_column: str = "__END_AT"

    def as_plan(self) -> dict[str, Any]:
        """The beginning of a plan, as the macros read it (`keys` of a dict is its method)."""
        return {
            "key_columns" if name == "keys" else name: (
                list(value) if isinstance(value, tuple) else value
            )
            for name, value in asdict(self).items()
        }


Columns = Mapping[str, str]
