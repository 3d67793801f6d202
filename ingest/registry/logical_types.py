"""Which logical types of Avro count: each only of its own type, and by Avro's rules.

Source: "Logical Types" of Avro 1.12: one that is not valid is ignored.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def decimal_size(schema: Mapping[str, Any]) -> tuple[int, int] | None:
    """Precision and scale of a decimal; None of what is none by Avro's rules."""
    kind = schema.get("type")
    if schema.get("logicalType") != "decimal" or kind not in ("bytes", "fixed"):
        return None
    precision, scale = schema.get("precision"), schema.get("scale", 0)
    if not (isinstance(precision, int) and isinstance(scale, int) and 0 <= scale <= precision):
        return None
    most = 1 << max(0, 8 * schema["size"] - 1) if kind == "fixed" else None
    is_one = precision > 0 and (most is None or 10**precision <= most)
    return (precision, scale) if is_one else None


def is_uuid(schema: Mapping[str, Any]) -> bool:
    """Whether a fixed number of bytes is a UUID; a text that is one needs no conversion."""
    is_fixed = schema.get("type") == "fixed" and schema.get("size") == 16
    return is_fixed and schema.get("logicalType") == "uuid"
