"""SQL of `_rescued`: what no column of a type of event shows, path to text."""

from __future__ import annotations

from dataclasses import dataclass, field

from ingest.shapes.conversion import text_literal

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Lost:
    """SQL of all that no column shows: texts by path, and maps of variants by the path's start."""

    texts: dict[str, str] = field(default_factory=dict)
    objects: dict[str, str] = field(default_factory=dict)

    def add(self, path: Path, text: str) -> None:
        """Add a text, which is null where a column shows what is there."""
        name = ".".join(path)
        if name in self.texts:
            name = ".".join(f"`{one}`" if "." in one else one for one in path)
        self.texts[name] = text

    def json(self) -> list[str]:
        """SQL of JSON objects, path to text; null or empty where nothing is lost."""
        members = ", ".join(f"{text_literal(name)}, {text}" for name, text in self.texts.items())
        found = [f"to_json(named_struct({members}))"] if members else []
        for start, values in self.objects.items():
            texts = f"transform_values({values}, (k, v) -> cast(v as string))"
            found.append(f"to_json(transform_keys({texts}, (k, v) -> {self._path(start)}))")
        return found

    def _path(self, start: str) -> str:
        """SQL of the path of a member `k`, in backticks where its dots would be another path."""
        path = f"concat({text_literal(start)}, k)"
        below = [one[len(start) :] for one in self.texts if one.startswith(start)]
        others = [f"k = {text_literal(one)}" for one in below if "." in one]
        others += [
            f"startswith(k, {text_literal(one[len(start) :])})"
            for one in self.objects
            if one.startswith(start) and one != start
        ]
        if not others:
            return path
        return f"if({' or '.join(others)}, concat({text_literal(start + '`')}, k, '`'), {path})"
