"""Visits to the shop: people browse, some buy, and their applications report it."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from demo.marketplace import event_types as types
from demo.marketplace.clock import DAY, HOUR, MINUTE, SECOND
from demo.marketplace.draw import Draw, Weighted
from demo.marketplace.router import APP_RELEASE, Router
from demo.marketplace.scene import Scene

if TYPE_CHECKING:
    from demo.marketplace.event_types import EventType
    from demo.marketplace.people import Vehicle
    from demo.marketplace.plan import Plan
    from demo.marketplace.shop import Shop

# How busy each hour of the day is, from six in the morning on.
_HOURS: Final = Weighted(
    list(enumerate((3, 5, 7, 8, 8, 9, 10, 9, 8, 8, 9, 11, 13, 15, 14, 11, 8, 5, 3, 2, 1, 1, 1, 2)))
)
_SYSTEMS: Final = Weighted([("ios", 34), ("android", 41), ("web", 20), ("other", 5)])


@dataclass(slots=True)
class Visits:
    """All visits of the day, hour by hour."""

    plan: Plan
    shop: Shop
    router: Router
    _starts: list[int] = field(init=False)
    _rare: dict[int, EventType] = field(init=False)
    _draw: Draw = field(init=False)

    def __post_init__(self) -> None:
        draw = self._draw = Draw(self.plan.seed, "visits")
        self._starts = sorted(
            draw.weighted(_HOURS) * HOUR + draw.below(HOUR) for _ in range(self.plan.sessions)
        )
        self._rare = {}
        for kind, times in types.RARE:
            for _ in range(times):
                self._rare[self._free_visit()] = kind

    def play(self, hour: int) -> None:
        """Everything that visits report which begin in this hour of the day."""
        first = bisect_left(self._starts, hour * HOUR)
        last = bisect_left(self._starts, (hour + 1) * HOUR)
        for number in range(first, last):
            self._visit(self._starts[number], self._rare.get(number))

    def _free_visit(self) -> int:
        while True:
            number = self._draw.below(self.plan.sessions * 9 // 10)
            if number not in self._rare:
                return number

    def _visit(self, start: int, rare: EventType | None) -> None:
        draw, post = self._draw, self.router.post
        scene = self._scene(start)
        if draw.chance(0.6):
            post(types.SESSION_STARTED, scene)
        if scene.user_id is None and draw.chance(0.04):
            scene.user_id = self.shop.sign_up(scene.at)
            post(types.USER_SIGNED_UP, scene)
        for _ in range(draw.between(2, 17)):
            scene.at += draw.between(SECOND, 50 * SECOND)
            kind = draw.weighted(types.BROWSE)
            if kind.name in ("vehicle_viewed", "offer_made"):
                scene.vehicle = self._vehicle(scene.at)
            post(kind, scene)
        if rare is not None:
            scene.order_id = 1 + draw.below(self.plan.past_orders)
            scene.amount = scene.vehicle.price_at(scene.at)
            post(rare, scene)
        if scene.user_id is not None and draw.chance(0.16):
            self._buy(scene, scene.user_id)
        if draw.chance(0.4):
            scene.at += draw.between(SECOND, 4 * MINUTE)
            post(types.SESSION_ENDED, scene)

    def _buy(self, scene: Scene, customer_id: int) -> None:
        """The way to an order, which many leave on the way."""
        draw, post = self._draw, self.router.post
        vehicle = self._vehicle(scene.at)
        scene.vehicle = vehicle
        if scene.at + 30 * MINUTE > DAY or vehicle.gone < DAY:
            return
        self._step(types.VEHICLE_VIEWED, scene)
        self._step(types.CHECKOUT_STARTED, scene)
        if draw.chance(0.35):
            if draw.chance(0.5):
                self._step(types.CHECKOUT_ABANDONED, scene)
            return
        scene.amount = vehicle.price_at(scene.at)
        self._step(types.PAYMENT_SUBMITTED, scene)
        if draw.chance(0.12):
            self._step(types.PAYMENT_FAILED, scene)
            return
        scene.at += draw.between(SECOND, 20 * SECOND)
        scene.amount = vehicle.price_at(scene.at)
        order = self.shop.order(scene.at, customer_id, vehicle, is_instant=draw.chance(0.4))
        scene.order_id = order.order_id
        post(types.ORDER_PLACED, scene)
        if draw.chance(0.08):
            seen, scene.at = scene.at, order.paid + draw.between(MINUTE, 20 * MINUTE)
            self.shop.cancel(scene.at, order)
            post(types.ORDER_CANCELLED, scene)
            scene.at = seen

    def _step(self, kind: EventType, scene: Scene) -> None:
        scene.at += self._draw.between(2 * SECOND, 90 * SECOND)
        self.router.post(kind, scene)

    def _scene(self, start: int) -> Scene:
        draw = self._draw
        system = draw.weighted(_SYSTEMS)
        is_newest = start >= APP_RELEASE and draw.chance(0.6)
        device: dict[str, Any] = {
            "os": system,
            "app_version": "5.13.0" if is_newest else draw.pick(("5.12.0", "5.12.1", "5.9.4")),
        }
        if is_newest:
            device["network"] = draw.pick(("wifi", "4g", "5g"))
        return Scene(
            draw=draw,
            session_id=f"s-{draw.bits(48):012x}",
            device=device,
            at=start,
            user_id=1 + draw.below(self.shop.customers) if draw.chance(0.55) else None,
            vehicle=self._vehicle(start),
            newest_app=is_newest,
        )

    def _vehicle(self, at: int) -> Vehicle:
        """A car that is for sale now, as far as a few looks can tell."""
        vehicles = self.shop.vehicles
        for _ in range(6):
            vehicle = self._draw.pick(vehicles)
            if vehicle.listed <= at < vehicle.gone:
                break
        else:
            vehicle = vehicles[0]
        return vehicle
