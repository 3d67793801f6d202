"""Delivery trucks: they fetch cars that were paid for, hand them over, and say where they are."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from itertools import count
from math import sqrt
from typing import TYPE_CHECKING, Any, Final

from demo.marketplace import clock
from demo.marketplace import event_types as types
from demo.marketplace.arrivals import Arrivals, Position
from demo.marketplace.clock import DAY, HOUR, MINUTE, SECOND
from demo.marketplace.draw import Draw
from demo.marketplace.people import CITIES, City
from demo.marketplace.scene import Scene

if TYPE_CHECKING:
    from demo.marketplace.plan import Plan
    from demo.marketplace.router import Router
    from demo.marketplace.shop import Order, Shop

INTERVAL: Final = 20 * SECOND
TWICE: Final = 0.01
OUT_OF_REACH: Final = 0.1
LAST_DEPARTURE: Final = 17 * HOUR
BROKEN: Final = 0.0008
WRONG_TYPE: Final = 0.0008
# A degree of longitude is this much shorter than one of latitude in these parts.
_NARROW: Final = 0.6225
_MINUTES_A_DEGREE: Final = 100


@dataclass(slots=True, kw_only=True)
class Truck:
    """One truck: where it stands, and from when it is free."""

    truck_id: str
    city: City
    free: int


@dataclass(slots=True)
class Trucks:
    """The fleet, its deliveries and its positions."""

    plan: Plan
    shop: Shop
    router: Router
    arrivals: Arrivals = field(default_factory=Arrivals)
    _fleet: list[Truck] = field(init=False)
    _draw: Draw = field(init=False)
    _serials: count[int] = field(default_factory=count)
    _broken: int = 0

    def __post_init__(self) -> None:
        draw = self._draw = Draw(self.plan.seed, "trucks")
        self._fleet = [
            Truck(
                truck_id=f"T-{number:03d}",
                city=draw.pick(CITIES),
                free=draw.between(HOUR, 3 * HOUR),
            )
            for number in range(1, self.plan.trucks + 1)
        ]

    def dispatch(self, now: int) -> None:
        """Send out every truck that is free within the hour, as long as there is a paid order."""
        waiting = sorted(self.shop.paid_orders, key=lambda order: (order.paid, order.order_id))
        for order in waiting:
            ready = max(now, order.paid + 45 * MINUTE)
            truck = min(self._fleet, key=lambda each: each.free + _drive(each.city, order))
            departure = max(ready, truck.free)
            if departure > min(now + HOUR, LAST_DEPARTURE):
                continue
            self.shop.paid_orders.remove(order)
            self._deliver(truck, order, departure)

    def _deliver(self, truck: Truck, order: Order, departure: int) -> None:
        """Drive to the car, load it, drive to the customer; a delivery takes whole minutes."""
        draw = self._draw
        there = departure + travel_time(truck.city, order.vehicle.city)
        self._drive(truck, order.vehicle.city, departure, there)
        started = there + 15 * MINUTE + draw.below(10 * MINUTE)
        trip = max(10 * MINUTE, travel_time(order.vehicle.city, order.destination))
        is_late = draw.chance(0.15)
        completed = started + trip + (draw.between(10, 50) * MINUTE if is_late else 0)
        truck.city = order.vehicle.city
        self._drive(truck, order.destination, started, completed, order.order_id)
        truck.city, truck.free = order.destination, completed + 20 * MINUTE
        self.shop.ship(order, started, completed)
        scene = Scene(
            draw=draw,
            session_id=f"s-{draw.bits(48):012x}",
            device={"os": "android", "app_version": "driver-2.4"},
            vehicle=order.vehicle,
            order_id=order.order_id,
            truck_id=truck.truck_id,
        )
        for at, kind in ((started, types.DELIVERY_STARTED), (completed, types.DELIVERY_COMPLETED)):
            scene.at = at
            self.router.post(kind, scene)
        if is_late:
            scene.at = started + trip // 2
            self.router.post(types.DELIVERY_DELAYED, scene)

    def _drive(
        self, truck: Truck, to: City, start: int, end: int, order_id: int | None = None
    ) -> None:
        """Say where the truck is, every 20 seconds, on a straight road to the next city."""
        draw = self._draw
        first = -(-start // INTERVAL) * INTERVAL
        silence = draw.between(start, end) if draw.chance(OUT_OF_REACH) else end
        for at in range(first, min(end, DAY), INTERVAL):
            share = (at - start) / (end - start)
            latitude = truck.city.latitude + share * (to.latitude - truck.city.latitude)
            longitude = truck.city.longitude + share * (to.longitude - truck.city.longitude)
            record: dict[str, Any] = {
                "truck_id": truck.truck_id,
                "latitude": round(latitude + (draw.share() - 0.5) / 5_000, 6),
                "longitude": round(longitude + (draw.share() - 0.5) / 5_000, 6),
                "recorded_at": clock.iso_seconds(at),
            }
            if order_id is not None:
                record["order_id"] = order_id
            # Out of reach, the truck keeps its positions and sends them when it has arrived.
            self._send(record, at, end if at >= silence else at, order_id)

    def _send(self, record: dict[str, Any], at: int, sent: int, order_id: int | None) -> None:
        draw = self._draw
        arrived = sent + 100 + draw.below(4_000)
        is_wrong = draw.chance(WRONG_TYPE)
        if is_wrong:
            record["latitude"] = draw.pick(("n/a", "no fix"))
        data = json.dumps(record).encode()
        fact = Position(next(self._serials), record["truck_id"], at, order_id, is_wrong)
        if draw.chance(BROKEN):
            self._broken += 1
            if self._broken % 3:
                self.arrivals.deliver(arrived, data[: len(data) * 2 // 3], "MALFORMED_JSON")
            else:
                del record["truck_id"]
                self.arrivals.deliver(arrived, json.dumps(record).encode(), "NULL_KEY")
            return
        self.arrivals.deliver(arrived, data, fact)
        if draw.chance(TWICE):
            self.arrivals.deliver(arrived + draw.pick((0, 2 * HOUR)), data, fact)


def travel_time(start: City, end: City) -> int:
    """How long the way takes, in whole minutes of the clock."""
    north = end.latitude - start.latitude
    east = (end.longitude - start.longitude) * _NARROW
    # The square root is exact on every machine, unlike the functions of the C maths library.
    return int(sqrt(north * north + east * east) * _MINUTES_A_DEGREE) * MINUTE


def _drive(city: City, order: Order) -> int:
    return travel_time(city, order.vehicle.city)
