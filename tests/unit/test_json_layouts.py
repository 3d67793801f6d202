"""Names that stand twice in an object, found in many texts at once."""

from __future__ import annotations

import json
import random
from typing import Any

import pyarrow as pa

from ingest.parse.json_layouts import Layouts
from tests.fuzzing import cases, seed

NAMES = ["a", "b", "", '"', "\\", "a b", "abcdefgh", "abcdefghi", "abcdefgh" * 3, "ä", "{", "}{"]


def written(draw: random.Random, depth: int) -> tuple[str, bool]:
    """A JSON text, and whether a name stands twice in one of its objects."""
    if not depth or draw.random() < 0.3:
        return draw.choice(["null", "1", '"{}"', '"\\":"', '"x"', "[]", "{}"]), False
    values = [written(draw, depth - 1) for _ in range(draw.randrange(4))]
    repeats = any(one for _, one in values)
    if draw.random() < 0.3:
        return f"[{','.join(text for text, _ in values)}]", repeats
    names = [draw.choice(NAMES) for _ in values]
    members = (f"{named(draw, name)}:{text}" for name, (text, _) in zip(names, values, strict=True))
    return f"{{{','.join(members)}}}", repeats or len(set(names)) < len(names)


def named(draw: random.Random, name: str) -> str:
    """A name as JSON, in one of the ways to write it."""
    if name and draw.random() < 0.1:
        return '"' + "".join(f"\\u{ord(one):04x}" for one in name) + '"'
    return json.dumps(name, ensure_ascii=False)


def test_repeated_names_are_those_that_python_finds() -> None:
    draw, layouts = random.Random(seed()), Layouts()
    for _ in range(cases(20)):
        drawn: list[Any] = [written(draw, 4) for _ in range(200)]
        texts, expected = zip(*drawn, strict=True)
        assert layouts.repeating(pa.array(texts)).tolist() == list(expected)


def test_no_texts_repeat_nothing() -> None:
    assert Layouts().repeating(pa.array([], pa.string())).tolist() == []
