"""Values that nobody may see are gone before a record goes anywhere."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, assert_never

from ingest.column_names import folded
from ingest.declarations.stream import Mask
from ingest.parse.json_exact import written

# What a redacted value reads.
REDACTED = "[redacted]"


@dataclass(frozen=True, slots=True)
class Masking:
    """Masks by their paths from a record's root; `key` is that of hashes (HMAC-SHA-256).

    Names count as the same in any case, so that nothing escapes by another spelling; lists on the
    way are gone through, and what stands there instead of an object is masked itself, for the value
    may be in it. A null stays null.
    """

    masks: Mapping[tuple[str, ...], Mask]
    key: bytes

    def applied(self, document: dict[str, Any]) -> dict[str, Any]:
        """The record without them."""
        for path, mask in self.masks.items():
            self._apply(document, path, mask)
        return document

    def _apply(self, record: dict[str, Any], path: tuple[str, ...], mask: Mask) -> None:
        for name in [one for one in record if folded(one) == folded(path[0])]:
            shown = self._shown(record[name], path[1:], mask)
            if shown is None and record[name] is not None:
                del record[name]
            else:
                record[name] = shown

    def _shown(self, value: Any, path: tuple[str, ...], mask: Mask) -> Any:
        """What is shown of a value below which `path` goes on; None: nothing."""
        if path and isinstance(value, dict):
            self._apply(value, path, mask)
            return value
        if path and isinstance(value, list):
            return [self._shown(one, path, mask) for one in value]
        if value is None:
            return None
        match mask:
            case Mask.DROP:
                return None
            case Mask.REDACT:
                return REDACTED
            case Mask.HASH:
                return self._hash(value)
            case _:
                assert_never(mask)

    def _hash(self, value: Any) -> str:
        text = value if isinstance(value, str) else written(value)
        return hmac.new(self.key, text.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()
