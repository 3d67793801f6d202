"""Events of a games company: many types, none announced, whose shapes drift from day to day.

Deterministic: the same seed gives the same bytes. Types come one after the other, each grows and
loses attributes from phase to phase, and two of them break their promise.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

PHASES = 4
_START = datetime(2026, 11, 1, tzinfo=UTC)
_AREAS = (
    "match",
    "shop",
    "quest",
    "social",
    "guild",
    "store",
    "arena",
    "profile",
    "clan",
    "season",
)
_VERBS = (
    "started",
    "ended",
    "joined",
    "left",
    "bought",
    "won",
    "lost",
    "shared",
    "opened",
    "upgraded",
)
_PLATFORMS = ("pc", "console", "ios", "android")


@dataclass(slots=True)
class Games:
    """So many types of events; `known` of them come from the start, the others one by one."""

    seed: int
    types: int
    known: int
    events: int
    counts: Counter[str] = field(default_factory=Counter)

    def name(self, number: int) -> str:
        """Type `number`, as producers write it."""
        area, verb = _AREAS[number % 10], _VERBS[number // 10 % 10]
        return f"game.{area}.{verb}.v{number // 100 + 1}"

    @property
    def breaking(self) -> tuple[str, str]:
        """The types that break their promise in the last phase."""
        return self.name(3), self.name(7)

    def lines(self, start: int, stop: int) -> Iterator[str]:
        """Events `start` to `stop`, as JSON in CloudEvents' structured mode; counts them."""
        for number in range(start, stop):
            event = self._event(number)
            self.counts[event["type"]] += 1
            yield json.dumps(event, separators=(",", ":")) + "\n"

    def write(self, folder: Path, files: int) -> None:
        """All events, in so many files."""
        folder.mkdir(parents=True, exist_ok=True)
        size = -(-self.events // files)
        for number in range(files):
            lines = self.lines(number * size, min((number + 1) * size, self.events))
            (folder / f"{number:05}.jsonl").write_text("".join(lines), "utf-8")

    def _event(self, number: int) -> dict[str, Any]:
        draw = random.Random(self.seed * 1_000_003 + number)
        come = self._come(number)
        # A type begins with its first event.
        is_new = number > 0 and come > self._come(number - 1)
        kind = come - 1 if is_new else int(come * draw.random() ** 2)
        at = _START + timedelta(milliseconds=number)
        return {
            "specversion": "1.0",
            "id": f"{self.seed}-{number}",
            "source": f"/titles/{number % 400}",
            "type": self.name(kind),
            "time": f"{at:%Y-%m-%dT%H:%M:%S}.{at.microsecond:06}Z",
            "data": self._payload(kind, number * PHASES // self.events, number, draw),
        }

    def _come(self, number: int) -> int:
        """How many types there are by then."""
        return self.known + -(-(self.types - self.known) * (number + 1) // self.events)

    def _payload(self, kind: int, phase: int, number: int, draw: random.Random) -> dict[str, Any]:
        payload: dict[str, Any] = {
            "player_id": draw.randrange(10**9),
            "session": f"{draw.getrandbits(64):016x}",
            "platform": draw.choice(_PLATFORMS),
            "level": draw.randrange(100),
            "sent_at": f"2026-11-01T{number % 24:02}:{number % 60:02}:00Z",
            "is_online": draw.random() < 0.5,
            "device": {"os": draw.choice(_PLATFORMS), "memory_mb": draw.randrange(8192)},
        }
        for each in range(kind % 5 + phase):
            payload[f"attribute_{kind}_{each}"] = self._value(kind + each, draw)
        if phase == PHASES - 2:
            del payload["is_online"]
        if phase == PHASES - 1 and self.name(kind) in self.breaking:
            payload["level" if kind == 3 else "session"] = {"now": "an object"}
        return payload

    @staticmethod
    def _value(kind: int, draw: random.Random) -> Any:
        values: tuple[Any, ...] = (
            draw.randrange(10**6),
            round(draw.random() * 100, 2),
            f"value {draw.randrange(1000)}",
            [{"sku": f"s{draw.randrange(99)}", "count": draw.randrange(9)}],
            str(draw.randrange(10**5, 10**6)),
        )
        return values[kind % len(values)]
