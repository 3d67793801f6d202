"""Values that nobody may see are gone before a record goes anywhere."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ingest.declarations.stream import Mask
from ingest.decode.exact_json import written

# What a redacted value reads.
REDACTED = "[redacted]"


@dataclass(frozen=True, slots=True)
class Masking:
    """Masks by their paths from a record's root; `key` is that of hashes (HMAC-SHA-256).

    Names count as the same in any case, so that nothing escapes by another spelling; lists on the
    way are gone through. A null stays null.
    """

    masks: Mapping[tuple[str, ...], Mask]
    key: bytes

    def applied(self, document: dict[str, Any]) -> dict[str, Any]:
        """The record without them."""
        for path, mask in self.masks.items():
            self._apply(document, path, mask)
        return document

    def _apply(self, value: Any, path: tuple[str, ...], mask: Mask) -> None:
        if isinstance(value, list):
            for one in value:
                self._apply(one, path, mask)
        if not isinstance(value, dict):
            return
        for name in [one for one in value if one.lower() == path[0].lower()]:
            if len(path) > 1:
                self._apply(value[name], path[1:], mask)
            elif mask is Mask.DROP:
                del value[name]
            elif value[name] is not None:
                value[name] = REDACTED if mask is Mask.REDACT else self._hash(value[name])

    def _hash(self, value: Any) -> str:
        text = value if isinstance(value, str) else written(value)
        return hmac.new(self.key, text.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()
