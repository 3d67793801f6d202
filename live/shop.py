"""The shop's database: people who register, order, pay, move away, and are forgotten."""

from __future__ import annotations

import random
import threading
import time
from dataclasses import dataclass, field
from typing import Any

import psycopg

_TABLES = """
create table if not exists customers (
    customer_id bigint primary key, name text not null, city text, about text,
    updated_at timestamptz
);
create table if not exists orders (
    order_id bigint primary key, customer_id bigint, status text, amount numeric(12,2),
    placed_at timestamptz
);
-- What is this long is stored out of line, and not sent where it did not change.
alter table customers alter column about set storage external;
"""
_CITIES = ("Lisbon", "Lyon", "Graz", "Gdynia", "Turku", "Cork")
_STATUSES = ("paid", "shipped", "delivered", "cancelled")
_ABOUT = 6_000
# Texts of customers are pieces of one that is longer: to draw each letter takes a millisecond.
_SPARE = 10_000
# Row changes of one transaction.
_STATEMENTS = 20


@dataclass(slots=True)
class Shop:
    """Works through SQL, at `rate` row changes a second; `changes` are those it has committed."""

    address: str
    rate: float
    draw: random.Random
    changes: int = 0
    _customers: list[int] = field(default_factory=list)
    _orders: list[int] = field(default_factory=list)
    _newest: int = 0
    _text: str = field(init=False)

    def __post_init__(self) -> None:
        self._text = "".join(self.draw.choices("abcdefghij klmnop", k=_ABOUT + _SPARE))

    def open(self) -> None:
        """Make its tables, or know what is in them."""
        with psycopg.connect(self.address, autocommit=True) as database:
            database.execute(_TABLES)
            self._customers = self._keys(database, "select customer_id from customers")
            self._orders = self._keys(database, "select order_id from orders")
        self._newest = max((0, *self._customers, *self._orders))

    def work(self, closing: threading.Event) -> None:
        """Work until closing time."""
        with psycopg.connect(self.address) as database:
            began, done = time.monotonic(), 0
            while not closing.is_set():
                # Sent at once: an answer to each statement would be waited for.
                with database.pipeline(), database.transaction():
                    for _ in range(_STATEMENTS):
                        self._change(database)
                done += _STATEMENTS
                self.changes += _STATEMENTS
                closing.wait(max(0.0, began + done / self.rate - time.monotonic()))

    def _change(self, database: psycopg.Connection[Any]) -> None:
        chance = self.draw.random()
        if chance < 0.3 or len(self._customers) < 50 or len(self._orders) < 50:
            self._create(database)
        elif chance < 0.6:
            database.execute(
                "update orders set status = %s, amount = amount + 1 where order_id = %s",
                (self.draw.choice(_STATUSES), self.draw.choice(self._orders)),
            )
        elif chance < 0.85:
            database.execute(
                "update customers set city = %s, updated_at = now() where customer_id = %s",
                (self.draw.choice(_CITIES), self.draw.choice(self._customers)),
            )
        elif chance < 0.95:
            order = self._orders.pop(self.draw.randrange(len(self._orders)))
            database.execute("delete from orders where order_id = %s", (order,))
        else:
            # A customer gets another number: the old row is deleted, another one created.
            place, key = self.draw.randrange(len(self._customers)), self._next()
            database.execute(
                "update customers set customer_id = %s, about = about || '.' "
                "where customer_id = %s",
                (key, self._customers[place]),
            )
            self._customers[place] = key

    def _create(self, database: psycopg.Connection[Any]) -> None:
        key = self._next()
        if self.draw.random() < 0.4 or not self._customers:
            begins = self.draw.randrange(_SPARE)
            about = self._text[begins : begins + _ABOUT]
            city = self.draw.choice(_CITIES)
            database.execute(
                "insert into customers values (%s, %s, %s, %s, now())",
                (key, f"customer {key}", city, about),
            )
            self._customers.append(key)
            return
        amount = self.draw.randrange(100, 5_000_000) / 100
        database.execute(
            "insert into orders values (%s, %s, 'placed', %s, now())",
            (key, self.draw.choice(self._customers), amount),
        )
        self._orders.append(key)

    def _next(self) -> int:
        self._newest += 1
        return self._newest

    @staticmethod
    def _keys(database: psycopg.Connection[Any], query: str) -> list[int]:
        return [row[0] for row in database.execute(query).fetchall()]
