"""What was known at the moment of a sale: the customer's segment and the car's price."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from demo.marketplace.replication import Sent
    from demo.marketplace.tables import Row, Value


@dataclass(frozen=True, slots=True, kw_only=True)
class SaleAsOf:
    """One sale of the day, with what was true when it was made."""

    order_id: Value
    segment: Value
    price_eur_cents: Value


def sales_as_of(
    landed: Mapping[str, Sent], orders: Iterable[Row], sold: tuple[str, ...]
) -> Iterator[SaleAsOf]:
    """For each living sale whose insert has landed: the state up to its own change sequence.

    `landed` holds every row that has landed by its change sequence (rows of the full load by a
    text that sorts before any). A customer or car whose rows up to then have not landed is None.
    """
    versions: defaultdict[tuple[str, Value], list[tuple[str, Sent]]] = defaultdict(list)
    inserted: dict[Value, str] = {}
    for sequence in sorted(landed):
        sent = landed[sequence]
        versions[sent.table.name, sent.row[sent.table.key]].append((sequence, sent))
        if sent.table.name == "orders" and sent.change and sent.change.operation == "I":
            inserted[sent.row["order_id"]] = sequence
    for order in orders:
        sequence = inserted.get(order["order_id"], "")
        if sequence and order["status"] in sold:
            customer = _before(versions["customers", order["customer_id"]], sequence)
            vehicle = _before(versions["vehicles", order["vehicle_id"]], sequence)
            yield SaleAsOf(
                order_id=order["order_id"],
                segment=customer["segment"] if customer else None,
                price_eur_cents=vehicle["price_eur_cents"] if vehicle else None,
            )


def _before(versions: list[tuple[str, Sent]], sequence: str) -> Row | None:
    """The newest version older than `sequence`, unless it is a deletion."""
    newest = None
    for own, sent in versions:
        if own < sequence:
            newest = sent
    if newest is None or (newest.change and newest.change.operation == "D"):
        return None
    return newest.row
