"""The shop: what it holds when the day begins, and how orders and accounts change its database."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from demo.marketplace.clock import DAY, HOUR, MINUTE
from demo.marketplace.draw import Draw, Weighted
from demo.marketplace.people import CITIES, City, Vehicle, customer_row, new_vehicle, vehicle_row
from demo.marketplace.tables import CUSTOMERS, ORDERS, VEHICLES, Database

if TYPE_CHECKING:
    from demo.marketplace.plan import Plan

CITY_NAMED: Final = {city.name: city for city in CITIES}
_PAST_STATUS: Final = Weighted([("delivered", 70), ("shipped", 8), ("paid", 10), ("cancelled", 12)])


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A car that was sold, and when it was paid."""

    order_id: int
    vehicle: Vehicle
    destination: City
    paid: int


@dataclass(slots=True)
class Shop:
    """Keeps the database in step with what people do."""

    plan: Plan
    database: Database = field(default_factory=Database)
    vehicles: list[Vehicle] = field(default_factory=list)
    paid_orders: list[Order] = field(default_factory=list)
    customers: int = 0
    _orders: int = 0
    _draw: Draw = field(init=False)

    def __post_init__(self) -> None:
        self._draw = Draw(self.plan.seed, "shop")
        self._open()

    def sign_up(self, at: int) -> int:
        """A new customer; returns their id."""
        self.customers += 1
        row = customer_row(self._draw, self.customers, at)
        self.database.insert(at, CUSTOMERS, row)
        return self.customers

    def order(self, at: int, customer_id: int, vehicle: Vehicle, *, is_instant: bool) -> Order:
        """The customer orders the car; both tables change in one transaction."""
        draw = self._draw
        self._orders += 1
        order_id = self._orders
        vehicle.gone = at
        self.database.insert(
            at,
            ORDERS,
            {
                "order_id": order_id,
                "customer_id": customer_id,
                "vehicle_id": vehicle.vehicle_id,
                "status": "placed",
                "amount": vehicle.price_at(at),
                "placed_at": at,
                "updated_at": at,
            },
        )
        self.database.update(at, VEHICLES, vehicle.vehicle_id, status="reserved")
        paid = at if is_instant else at + draw.between(3 * MINUTE, 2 * HOUR)
        self.database.update(paid, ORDERS, order_id, status="paid")
        self.database.update(paid, VEHICLES, vehicle.vehicle_id, status="sold")
        destination = draw.favoured(CITIES)
        order = Order(order_id=order_id, vehicle=vehicle, destination=destination, paid=paid)
        self.paid_orders.append(order)
        return order

    def cancel(self, at: int, order: Order) -> None:
        """The order is taken back before it is shipped; the car is for sale again."""
        self.paid_orders.remove(order)
        self.database.update(at, ORDERS, order.order_id, status="cancelled")
        self.database.update(at, VEHICLES, order.vehicle.vehicle_id, status="listed")

    def ship(self, order: Order, started: int, completed: int) -> None:
        """A truck takes the car away and hands it over."""
        self.database.update(started, ORDERS, order.order_id, status="shipped")
        self.database.update(completed, ORDERS, order.order_id, status="delivered")

    def close_books(self) -> None:
        """Everything of the day that did not follow from a visit: prices, upgrades, deletions."""
        for vehicle in self.vehicles:
            for at, price in vehicle.prices[1:]:
                if at < min(vehicle.gone, DAY):
                    self.database.update(at, VEHICLES, vehicle.vehicle_id, price_eur_cents=price)
        self._change_customers()
        self._withdraw_vehicles()
        for order_id in range(1, self.plan.past_orders, 23):
            self.database.delete(self._sometime(), ORDERS, order_id)

    def _change_customers(self) -> None:
        draw, database = self._draw, self.database
        for _ in range(self.plan.customers // 12):
            customer_id = 1 + draw.below(self.customers)
            segment = draw.pick(("private", "dealer", "fleet"))
            database.update(self._sometime(), CUSTOMERS, customer_id, segment=segment)
        for _ in range(self.plan.customers // 20):
            customer_id = 1 + draw.below(self.customers)
            city = draw.favoured(CITIES).name
            database.update(self._sometime(), CUSTOMERS, customer_id, city=city)
        for number in range(max(6, self.plan.customers // 80)):
            customer_id = 1 + draw.below(self.plan.customers)
            gone = draw.between(HOUR, DAY - 3 * HOUR)
            # The last word before leaving, which often arrives after the news of the leaving.
            database.update(gone - MINUTE, CUSTOMERS, customer_id, email="please@forget.example")
            database.delete(gone, CUSTOMERS, customer_id)
            if number % 5 == 4:
                back = gone + HOUR
                database.insert(back, CUSTOMERS, customer_row(draw, customer_id, back))

    def _withdraw_vehicles(self) -> None:
        draw, database = self._draw, self.database
        for _ in range(max(8, self.plan.vehicles // 40)):
            vehicle = draw.pick(self.vehicles)
            if vehicle.gone < DAY or vehicle.listed > 0:
                continue
            gone = draw.between(HOUR, DAY - 2 * HOUR)
            database.update(gone, VEHICLES, vehicle.vehicle_id, status="withdrawn")
            if draw.chance(0.6):
                database.delete(gone + 2 * MINUTE, VEHICLES, vehicle.vehicle_id)

    def _sometime(self) -> int:
        return self._draw.between(10 * MINUTE, DAY - 10 * MINUTE)

    def _open(self) -> None:
        """The state of the shop when the day begins, and the cars that dealers will add in it."""
        draw, plan, database = self._draw, self.plan, self.database
        for customer_id in range(1, plan.customers + 1):
            created = -draw.between(HOUR, 700 * DAY)
            database.load(CUSTOMERS, customer_row(draw, customer_id, created))
        self.customers = plan.customers
        for vehicle_id in range(1, plan.vehicles + 1):
            vehicle = new_vehicle(draw, vehicle_id, -draw.between(6 * DAY, 90 * DAY))
            self.vehicles.append(vehicle)
        for vehicle in self.vehicles:
            database.load(VEHICLES, vehicle_row(draw, vehicle, "listed"))
        for order_id in range(1, plan.past_orders + 1):
            self._past_order(order_id)
        self._orders = plan.past_orders
        for number in range(1, plan.vehicles // 15):
            listed = draw.between(MINUTE, 20 * HOUR)
            vehicle = new_vehicle(draw, plan.vehicles + number, listed)
            self.vehicles.append(vehicle)
            database.insert(listed, VEHICLES, vehicle_row(draw, vehicle, "listed"))

    def _past_order(self, order_id: int) -> None:
        draw = self._draw
        vehicle = self.vehicles[-1 - 2 * order_id % len(self.vehicles)]
        status = draw.weighted(_PAST_STATUS)
        placed = -draw.between(6 * HOUR, 5 * DAY)
        if status != "cancelled":
            vehicle.gone = placed
            self.database.loaded["vehicles"][vehicle.vehicle_id]["status"] = "sold"
        self.database.load(
            ORDERS,
            {
                "order_id": order_id,
                "customer_id": 1 + draw.below(self.plan.customers),
                "vehicle_id": vehicle.vehicle_id,
                "status": status,
                "amount": vehicle.prices[0][1],
                "placed_at": placed,
                "updated_at": min(placed + draw.between(HOUR, 5 * HOUR), -HOUR),
            },
        )
