"""The log router: wraps application events in its envelope and delivers them at least once.

Not every copy arrives whole.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Final

from demo.marketplace import clock
from demo.marketplace.arrivals import Arrivals, Fact
from demo.marketplace.draw import Draw, Weighted
from demo.marketplace.event_types import NEVER_LOST, EventType
from demo.marketplace.scene import ATTRIBUTES, Scene

TWICE: Final = 0.05
LATE: Final = 0.03
BROKEN: Final = 0.002
WRONG_TYPE: Final = 0.002
APP_RELEASE: Final = 8 * clock.HOUR

_encoded = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_SERVICES: Final = ("web-shop", "mobile-api", "checkout", "pricing", "chat", "notifier")
_WRONG_IDS: Final[tuple[Any, ...]] = ("abc", "n/a", {"id": 12}, [7], "unknown", "guest-0x1F")
_NOT_JSON: Final = (
    b"upstream connect error or disconnect/reset before headers",
    b"<html><body>502 Bad Gateway</body></html>",
    b"E0302 06:12:09.441 router.cc:211] flush failed, it's full",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Break:
    """One way in which a line goes wrong, and the reason code it should get."""

    name: str
    reason: str


CUT_OFF: Final = Break(name="cut off", reason="MALFORMED_JSON")
NOT_JSON: Final = Break(name="not json", reason="MALFORMED_JSON")
NO_ID: Final = Break(name="no id", reason="NULL_KEY")
NULL_ID: Final = Break(name="null id", reason="NULL_KEY")
IN_ARRAY: Final = Break(name="in array", reason="NOT_AN_OBJECT")
BAD_BYTES: Final = Break(name="bad bytes", reason="INVALID_UTF8")
KEY_TWICE: Final = Break(name="key twice", reason="DUPLICATE_KEY")

# Taken in turn, so that even a small day has them all.
_BREAKS: Final = (
    *(CUT_OFF, NO_ID, CUT_OFF, NOT_JSON, IN_ARRAY, CUT_OFF),
    *(BAD_BYTES, CUT_OFF, KEY_TWICE, CUT_OFF, NULL_ID, NOT_JSON),
)
_DELAYS: Final = Weighted(
    [
        ((2 * clock.MINUTE, clock.HOUR), 6),
        ((clock.HOUR, 8 * clock.HOUR), 3),
        ((8 * clock.HOUR, clock.DAY), 1),
    ]
)


def broken(line: bytes, how: Break, draw: Draw) -> bytes:
    """The line after it went wrong."""
    if how is CUT_OFF:
        return line[: draw.between(len(line) // 5, len(line) * 9 // 10)]
    if how is NOT_JSON:
        return draw.pick(_NOT_JSON)
    if how is IN_ARRAY:
        return b"[" + line + b"]"
    if how is BAD_BYTES:
        return line.replace(b"logs/", b"logs/\xc3\x28", 1)
    if how is KEY_TWICE:
        return line[:-1] + b',"severity":"DEFAULT"}'
    start, end = line.index(b'"insertId"'), line.index(b",") + 1
    return line[:start] + (b'"insertId":null,' if how is NULL_ID else b"") + line[end:]


@dataclass(slots=True)
class Router:
    """Takes events in and sends their lines on their way."""

    seed: int
    arrivals: Arrivals = field(default_factory=Arrivals)
    _serials: count[int] = field(default_factory=count)
    _broken: int = 0
    _ids: Draw = field(init=False)
    _faults: Draw = field(init=False)

    def __post_init__(self) -> None:
        self._ids = Draw(self.seed, "insert ids")
        self._faults = Draw(self.seed, "router faults")

    def post(self, kind: EventType, scene: Scene) -> None:
        """An application reports that something happened, now in its scene."""
        if scene.at >= clock.DAY:
            return
        draw = self._faults
        payload = _payload(kind, scene)
        is_wrong = draw.share() < WRONG_TYPE
        if is_wrong:
            payload["user_id"] = draw.pick(_WRONG_IDS)
        arrived = scene.at + 40 + draw.below(1_900)
        if draw.share() < LATE:
            arrived += draw.between(*draw.weighted(_DELAYS))
        data = self._envelope(kind, scene.at, arrived, payload)
        fact = Fact(
            next(self._serials),
            kind.name,
            scene.at,
            scene.session_id,
            payload.get("order_id"),
            payload.get("amount_eur_cents", 0),
            is_wrong,
        )
        if draw.share() < BROKEN:
            self._deliver_broken(arrived, data, fact)
            return
        self.arrivals.deliver(arrived, data, fact)
        if draw.share() < TWICE:
            self.arrivals.deliver(self._again(arrived), data, fact)

    def _again(self, arrived: int) -> int:
        """When the second copy comes: at once, or hours later and so in a later file."""
        if self._faults.chance(0.5):
            return arrived
        return arrived + self._faults.between(clock.HOUR, 6 * clock.HOUR)

    def _deliver_broken(self, arrived: int, data: bytes, fact: Fact) -> None:
        how = _BREAKS[self._broken % len(_BREAKS)]
        comes_back = self._broken % 4 == 0 or fact.event_type in NEVER_LOST
        self._broken += 1
        self.arrivals.deliver(arrived, broken(data, how, self._faults), how.reason)
        if comes_back:
            self.arrivals.deliver(self._again(arrived), data, fact)

    def _envelope(self, kind: EventType, at: int, arrived: int, payload: dict[str, Any]) -> bytes:
        service = _SERVICES[len(kind.name) % len(_SERVICES)]
        return (
            f'{{"insertId":"{self._ids.bits(80):020x}","timestamp":"{clock.iso(at)}",'
            f'"receiveTimestamp":"{clock.iso(arrived)}","severity":"{kind.severity}",'
            f'"logName":"projects/marketplace-prod/logs/{service}",'
            '"resource":{"type":"k8s_container","labels":{"project_id":"marketplace-prod",'
            f'"location":"europe-west4","container_name":"{service}"}}}},'
            f'"jsonPayload":{_encoded(payload)}}}'
        ).encode()


def _payload(kind: EventType, scene: Scene) -> dict[str, Any]:
    """What the application says; applications of the newest release say more."""
    payload: dict[str, Any] = {"event_type": kind.name}
    if scene.user_id is not None:
        payload["user_id"] = scene.user_id
    payload["session_id"] = scene.session_id
    payload["device"] = scene.device
    for name in kind.attributes:
        payload[name] = ATTRIBUTES[name](scene)
    if scene.newest_app:
        payload["screen"] = {"width": 1_170, "height": 2_532, "is_dark": scene.draw.chance(0.5)}
        if kind.name == "checkout_started":
            payload["financing"] = {"is_wanted": scene.draw.chance(0.3), "months": 36}
    return payload
