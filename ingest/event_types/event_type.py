"""One type of event: a value that changes by what its events bring and what persons decide."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import Enum

from pyspark.sql import types as T

from ingest.event_types.columns import kept_with
from ingest.event_types.variations import MOST_VARIATIONS, with_maps
from ingest.schemas.shape import EMPTY, Shape, merged


class Change(Enum):
    """The change of a type that an entry of `ops.event_schemas` records."""

    GROWN = "grown"
    REFUSED = "refused"
    ACCEPTED = "accepted"
    PINNED = "pinned"
    REVERTED = "reverted"


@dataclass(frozen=True, slots=True)
class EventType:
    """A type, up to a batch.

    `kept` is the shape that its columns follow from; `landed` are the shapes of all variations
    that landed, `seen` is all of them in one. To go back to a version makes those that do not go
    with it unknown again; `in_bronze` is the shape of all events that bronze has. `refused` are
    the variations that did not land, each with the reason. `rescued` are paths where values of
    another JSON type than the kept one have landed. `undecided` is what has come of them since a
    person last decided. `versions` has what was kept in each version; the newest that a person has
    decided on is `decided_in`. Bronze has no event of it before `first_batch_id`. `schema` is
    `columns` in JSON, which takes as long to write as to find them.
    """

    name: str
    table_name: str
    first_batch_id: int
    version: int = 0
    kept: Shape = EMPTY
    seen: Shape = EMPTY
    in_bronze: Shape = EMPTY
    landed: Mapping[int, Shape] = field(default_factory=dict)
    refused: Mapping[int, tuple[Shape, str]] = field(default_factory=dict)
    rescued: frozenset[tuple[str, ...]] = frozenset()
    undecided: frozenset[str] = frozenset()
    columns: T.StructType = field(default_factory=T.StructType)
    schema: str = ""
    is_pinned: bool = False
    versions: Mapping[int, Shape] = field(default_factory=dict)
    decided_in: int = 0
    last_grown: datetime | None = None

    @property
    def pending(self) -> str | None:
        """What waits for a person to decide."""
        return "; ".join(sorted({reason for _, reason in self.refused.values()})) or None

    @property
    def open_conflicts(self) -> str | None:
        """What has landed without going with the columns, and nobody has decided about."""
        return "; ".join(sorted(self.undecided)) or None

    def knows(self, number: int, shape: Shape) -> bool:
        """Whether a variation of this shape has landed, and brings nothing new."""
        is_landed = number in self.landed or self.has_many
        return is_landed and self.seen.covers(shape)

    @property
    def has_many(self) -> bool:
        """Whether more variations are no news."""
        return len(self.landed) >= MOST_VARIATIONS

    def landing(self, number: int, shape: Shape, at: datetime) -> EventType:
        """With a variation that lands."""
        kept, conflicts = kept_with(self.kept, shape)
        news = {str(one) for one in conflicts if one.path not in self.rescued}
        return replace(
            self,
            kept=self.kept if self.is_pinned else with_maps(kept, shape),
            seen=with_maps(self.seen.merged(shape), shape),
            in_bronze=with_maps(self.in_bronze.merged(shape), shape),
            # A variation that is landed for the second time has more kinds of text.
            landed={**self.landed, number: self.landed.get(number, EMPTY).merged(shape)},
            rescued=self.rescued | {one.path for one in conflicts},
            undecided=self.undecided if self.is_pinned else self.undecided | news,
            last_grown=at,
        )

    def refusing(self, number: int, shape: Shape, reason: str, at: datetime) -> EventType:
        """With a variation that does not land."""
        refused = {**self.refused, number: (shape, reason)}
        return replace(self, refused=refused, last_grown=at)

    def in_version(self, version: int, kept: Shape) -> EventType:
        """With what is kept in a version."""
        versions = {**self.versions, version: kept}
        return replace(self, version=version, kept=kept, versions=versions)

    def with_columns(self, columns: T.StructType, schema: str | None = None) -> EventType:
        """With its version's columns."""
        return replace(self, columns=columns, schema=schema or columns.json())

    def accepted(self) -> Shape:
        """What is kept once all that did not fit is accepted."""
        refused = [shape for shape, _ in self.refused.values()]
        return with_maps(merged([self.kept, self.seen, *refused]))

    def decided(self, change: Change, kept: Shape) -> EventType:
        """After a person's decision, which settles what was refused."""
        landed = self.landed
        if change is Change.REVERTED:
            # What does not go with the version is judged again when it comes again.
            landed = {key: one for key, one in landed.items() if not kept_with(kept, one)[1]}
        conflicts = (one for shape in self.landed.values() for one in kept_with(kept, shape)[1])
        return replace(
            self,
            landed=landed,
            seen=with_maps(merged(landed.values())),
            rescued=frozenset(one.path for one in conflicts),
            undecided=frozenset(),
            refused=self.refused if change is Change.REVERTED else {},
            is_pinned=change is Change.PINNED,
            decided_in=self.version + 1,
        )


def all_variations(types: Iterable[EventType]) -> frozenset[int]:
    """Every variation that has landed."""
    return frozenset(number for one in types for number in one.landed)
