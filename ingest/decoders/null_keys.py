"""Records whose key is null: a table of rows with a key takes none of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ingest.decoders.decoder import RESCUED, ROW, SCHEMA_ID
from ingest.errors import ReasonCode
from ingest.spark.sql import text_literal

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# Each column of a key as (its path in words, SQL that is null where a record lacks it).
Keys = Sequence[tuple[str, str]]
_NULL_KEY: ReasonCode = "NULL_KEY"
_NOTHING = "cast(null as string)"


def keyed_and_rejected(
    rows: DataFrame,
    keys: Keys,
    provenance: Sequence[str],
    *,
    raw: str = "value",
    position: str = "_position",
    code: str = _NOTHING,
    reason: str = _NOTHING,
) -> tuple[DataFrame, DataFrame]:
    """Deferred records as rows that have a key, and as rejects for quarantine.

    `raw`, `position`, `code` and `reason` are SQL on `rows`: a record's bytes and where it stands,
    and what else is wrong with it, null where that is nothing.
    """
    judged = rows.selectExpr(
        "*", f"{code} as _code", f"{reason} as _why", f"{_null_key_reason(keys)} as _unkeyed"
    )
    good = judged.where("_code is null and _unkeyed is null")
    rule = text_literal("key: " + ", ".join(name for name, _ in keys))
    rejects = judged.where("_code is not null or _unkeyed is not null").selectExpr(
        *provenance,
        f"{raw} as _raw",
        f"{position} as _position",
        SCHEMA_ID,
        f"coalesce(_code, '{_NULL_KEY}') as _reason_code",
        "coalesce(_why, _unkeyed) as _reason",
        f"if(_code is null, {rule}, null) as _rule",
    )
    return good.select(*provenance, RESCUED, SCHEMA_ID, ROW), rejects


def _null_key_reason(keys: Keys) -> str:
    """SQL that names the first column that is null; null where none is."""
    cases = " ".join(
        f"when {sql} is null then {text_literal(f'{name} is null')}" for name, sql in keys
    )
    return f"case {cases} end" if cases else _NOTHING
