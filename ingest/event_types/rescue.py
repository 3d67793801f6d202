"""SQL of `_rescued`: what no column of a type of event shows, path to text."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import reduce

from ingest.column_names import ODD_PART, member_path
from ingest.spark.sql import text_literal

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Lost:
    """SQL of all that no column shows: texts by path, and maps of variants by the path above."""

    texts: dict[str, str] = field(default_factory=dict)
    objects: dict[str, str] = field(default_factory=dict)

    def add(self, path: Path, text: str) -> None:
        """Add a text, which is null where a column shows what is there."""
        self.texts[_joined(path)] = text

    def add_members(self, path: Path, members: str) -> None:
        """Add a map of the members of an object that no column shows."""
        self.objects[_joined(path)] = members

    def json(self) -> list[str]:
        """SQL of JSON objects, path to text; null or empty where nothing is lost."""
        members = ", ".join(f"{text_literal(name)}, {text}" for name, text in self.texts.items())
        found = [f"to_json(named_struct({members}))"] if members else []
        for path, values in self.objects.items():
            texts = f"transform_values({values}, (k, v) -> cast(v as string))"
            found.append(f"to_json(transform_keys({texts}, (k, v) -> {_path_of_member(path)}))")
        return found


def _path_of_member(path: str) -> str:
    """SQL of the path of a member `k` below a path; see `member_path`."""
    quoted = "concat('`', replace(k, '`', '``'), '`')"
    part = f"if(k rlike {text_literal(ODD_PART)}, {quoted}, k)"
    return f"concat({text_literal(f'{path}.')}, {part})"


def _joined(path: Path) -> str:
    return reduce(member_path, path, "")
