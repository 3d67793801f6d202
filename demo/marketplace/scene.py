"""What is going on when an application event happens, and the attributes that are read off it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from demo.marketplace import clock
from demo.marketplace.people import CITIES, MODELS, Vehicle

if TYPE_CHECKING:
    from demo.marketplace.draw import Draw

Attribute = Callable[["Scene"], Any]


@dataclass(slots=True, kw_only=True)
class Scene:
    """One visit: who, on what device, looking at which car; or a truck with its order."""

    draw: Draw
    session_id: str
    device: dict[str, Any]
    vehicle: Vehicle
    at: int = 0
    user_id: int | None = None
    order_id: int | None = None
    amount: int = 0
    truck_id: str = ""
    newest_app: bool = False
    pages: list[str] = field(default_factory=lambda: ["home"])


PAGES: Final = ("home", "search", "vehicle", "favorites", "sell", "finance", "help", "account")
WORDS: Final = ("kombi", "elektrisch", "7 places", "trekhaak", "Škoda", "cabriolet", "1e eigenaar")
EXPERIMENTS: Final = tuple(f"exp_{number:03d}" for number in (101, 104, 117, 121, 130, 142))


def _page(scene: Scene) -> str:
    page = scene.draw.pick(PAGES)
    scene.pages.append(page)
    return page


def _search(scene: Scene) -> dict[str, Any]:
    draw = scene.draw
    return {
        "text": draw.pick(WORDS),
        "makes": [draw.pick(MODELS)[0] for _ in range(draw.between(1, 3))],
        "price": {"from": draw.below(10) * 1_000, "to": draw.between(11, 60) * 1_000},
        "radius_km": draw.between(1, 20) * 10,
    }


def _items(scene: Scene) -> list[dict[str, Any]]:
    draw = scene.draw
    kinds = ("warranty", "delivery", "winter_tyres", "registration")
    return [
        {"sku": draw.pick(kinds), "quantity": draw.between(1, 2), "fee": draw.between(1, 999) / 4}
        for _ in range(draw.between(1, 3))
    ]


def _experiments(scene: Scene) -> dict[str, str]:
    draw = scene.draw
    return {draw.pick(EXPERIMENTS): draw.pick("ABC") for _ in range(draw.between(1, 2))}


# A name means one thing and has one type in every event type that carries it.
ATTRIBUTES: Final[dict[str, Attribute]] = {
    "page": _page,
    "referrer": lambda scene: scene.pages[-1],
    "duration_ms": lambda scene: scene.draw.between(40, 30_000),
    "vehicle_id": lambda scene: scene.vehicle.vehicle_id,
    "vehicle": lambda scene: {
        "make": scene.vehicle.make,
        "model": scene.vehicle.model,
        "model_year": scene.vehicle.model_year,
        "location": {"city": scene.vehicle.city.name},
    },
    "price": lambda scene: scene.vehicle.price_at(scene.at) / 100,
    "position": lambda scene: scene.draw.between(1, 40),
    "search": _search,
    "result_count": lambda scene: scene.draw.between(0, 900),
    "filters": lambda scene: [scene.draw.pick(("fuel", "year", "colour")), "price"],
    "photo_number": lambda scene: scene.draw.between(1, 24),
    "channel": lambda scene: scene.draw.pick(("email", "push", "sms", "web")),
    "compared_ids": lambda scene: [
        scene.vehicle.vehicle_id,
        1 + scene.draw.below(scene.vehicle.vehicle_id),
    ],
    "target_price_eur_cents": lambda scene: scene.vehicle.price_at(scene.at) * 9 // 10,
    "offer_eur_cents": lambda scene: scene.vehicle.price_at(scene.at) * 96 // 100,
    "monthly_rate": lambda scene: scene.draw.between(9_000, 90_000) / 100,
    "months": lambda scene: scene.draw.pick((12, 24, 36, 48, 60)),
    "mileage_km": lambda scene: scene.draw.between(10, 240) * 1_000,
    "message_length": lambda scene: scene.draw.between(1, 500),
    "is_first": lambda scene: scene.draw.chance(0.3),
    "is_mobile": lambda scene: scene.device["os"] in ("ios", "android"),
    "reason": lambda scene: scene.draw.pick(("changed_mind", "price", "found another", "n/a")),
    "error": lambda scene: {
        "code": scene.draw.pick((408, 429, 500, 502, 503)),
        "message": scene.draw.pick(("timeout", 'unexpected "null"', "it's down", "a, b")),
    },
    "experiments": _experiments,
    "rating": lambda scene: scene.draw.between(1, 5),
    "campaign": lambda scene: scene.draw.pick(("spring", "ev-week", "trade-in")),
    "is_enabled": lambda scene: scene.draw.chance(0.5),
    "flag": lambda scene: scene.draw.pick(("new-search", "instant-pay", "dark-mode")),
    "order_id": lambda scene: scene.order_id,
    "amount_eur_cents": lambda scene: scene.amount,
    "payment": lambda scene: {
        "method": scene.draw.pick(("ideal", "card", "transfer")),
        "is_instant": scene.draw.chance(0.5),
    },
    "items": _items,
    "truck_id": lambda scene: scene.truck_id,
    "destination": lambda scene: scene.draw.pick(CITIES).name,
    "delay_minutes": lambda scene: scene.draw.between(10, 90),
    "promised_at": lambda scene: clock.iso(scene.at + scene.draw.between(1, 9) * clock.HOUR),
}
