"""Customers, vehicles and the cities they are in: the nouns of the marketplace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from demo.marketplace.clock import DAY, HOUR, MINUTE
from demo.marketplace.draw import Draw, Weighted

if TYPE_CHECKING:
    from demo.marketplace.tables import Row


@dataclass(frozen=True, slots=True, kw_only=True)
class City:
    """Where people live and cars stand."""

    name: str
    latitude: float
    longitude: float


CITIES: Final = tuple(
    City(name=name, latitude=latitude, longitude=longitude)
    for name, latitude, longitude in (
        ("Amsterdam", 52.3731, 4.8922),
        ("Köln", 50.9384, 6.9599),
        ("Bruxelles", 50.8466, 4.3528),
        ("Düsseldorf", 51.2254, 6.7763),
        ("Rotterdam", 51.9225, 4.4792),
        ("'s-Hertogenbosch", 51.6892, 5.3035),
        ("Antwerpen", 51.2213, 4.3997),
        ("Utrecht", 52.0907, 5.1214),
        ("Eindhoven", 51.4416, 5.4697),
        ("Liège", 50.6451, 5.5736),
        ("Münster", 51.9624, 7.6257),
        ("Gent", 51.0538, 3.725),
    )
)
FIRST_NAMES: Final = (
    "Anna", "Luuk", "José", "Zoë", "Łukasz", "Siobhán", "Björn", "Thị Hà", "Ayşe", "Noah",
    "Marie-Claire", "Emre", "Sanne", "Jan \"Janko\"", "Chloé", "Mehmet", "Fatima", "Øyvind",
    "Jürgen", "Nataša",
)  # fmt: skip
LAST_NAMES: Final = (
    "de Vries", "O'Brien", "Müller, Dr.", "García-Núñez", "Żółć", "Öz", "Janssens", "Đặng",
    "Peeters", "D'Angelo", "Schmidt", "van 't Hoff", "Nováková", "Dubois", "Sørensen", "李",
    "Maes, Jr.", "Öztürk", "Weiß", "Bakker",
)  # fmt: skip
MODELS: Final = (
    ("Volkswagen", "Golf"), ("Škoda", "Octavia"), ("Citroën", "C3"), ("Renault", "Mégane"),
    ("Peugeot", "308"), ("Kia", "cee'd"), ("BMW", "320d, Touring"), ("Opel", "Corsa"),
    ("Toyota", "Yaris"), ("Tesla", "Model 3"), ("Fiat", "500"), ("Mazda", "MX-5 \"Miata\""),
)  # fmt: skip
SEGMENTS: Final = Weighted([("private", 80), ("dealer", 14), ("fleet", 6)])
_VIN_LETTERS: Final = "ABCDEFGHJKLMNPRSTUVWXYZ0123456789"


@dataclass(slots=True, kw_only=True)
class Vehicle:
    """A car, and what it costs when."""

    vehicle_id: int
    make: str
    model: str
    model_year: int
    mileage_km: int
    city: City
    listed: int
    prices: list[tuple[int, int]]
    gone: int = DAY

    def price_at(self, at: int) -> int:
        """The asking price in cents at that moment."""
        price = self.prices[0][1]
        for since, later_price in self.prices:
            if since <= at:
                price = later_price
        return price


def new_vehicle(draw: Draw, vehicle_id: int, listed: int) -> Vehicle:
    """A car with its price and up to two later prices of the day."""
    make, model = draw.pick(MODELS)
    year = draw.between(2008, 2025)
    price = (draw.between(30, 120) * (year - 2004) * 10 + draw.between(0, 99) * 10) * 100 + 95_000
    prices = [(listed, price)]
    for _ in range(draw.below(3) if draw.chance(0.4) else 0):
        price = price * draw.between(93, 102) // 100
        prices.append((max(listed, prices[-1][0], 0) + draw.between(20 * MINUTE, 9 * HOUR), price))
    return Vehicle(
        vehicle_id=vehicle_id,
        make=make,
        model=model,
        model_year=year,
        mileage_km=draw.between(900, 18_000) * (2026 - year),
        city=draw.favoured(CITIES),
        listed=listed,
        prices=prices,
    )


def vehicle_row(draw: Draw, vehicle: Vehicle, status: str) -> Row:
    """The car as the shop's database first holds it."""
    return {
        "vehicle_id": vehicle.vehicle_id,
        "vin": "W" + "".join(draw.pick(_VIN_LETTERS) for _ in range(16)),
        "make": vehicle.make,
        "model": vehicle.model,
        "model_year": vehicle.model_year,
        "mileage_km": vehicle.mileage_km,
        "price_eur_cents": vehicle.prices[0][1],
        "status": status,
        "listed_at": vehicle.listed,
        "updated_at": vehicle.listed,
    }


def customer_row(draw: Draw, customer_id: int, created: int) -> Row:
    """A customer as the shop's database first holds them."""
    return {
        "customer_id": customer_id,
        "name": f"{draw.pick(FIRST_NAMES)} {draw.pick(LAST_NAMES)}",
        "email": f"customer.{customer_id}@example.com",
        "city": draw.favoured(CITIES).name,
        "segment": draw.weighted(SEGMENTS) if created < 0 else "private",
        "created_at": created,
        "updated_at": created,
    }
