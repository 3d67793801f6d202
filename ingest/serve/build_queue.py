"""What is to be built next. Knows no dbt and no Spark, only models and a clock."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass, field
from enum import Enum

from ingest.serve.models import Models

# Seconds until a failed model is tried again; each next time twice as long, up to the most.
_FIRST, _MOST = 2.0, 60.0


class Outcome(Enum):
    """What became of a model in a pass."""

    BUILT = "built"
    FAILED = "failed"
    # Its ancestor failed, or the pass was asked to end before.
    LEFT = "left"


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """What became of one model, in how many seconds, and why not."""

    outcome: Outcome
    seconds: float = 0.0
    error: str | None = None


@dataclass(frozen=True, slots=True)
class BuildBatch:
    """Models to build in one invocation of dbt."""

    models: frozenset[str]
    is_live: bool


@dataclass(slots=True)
class BuildQueue:
    """The models that are behind; `clock` gives seconds."""

    models: Models
    clock: Callable[[], float]
    _due: set[str] = field(init=False)
    _not_before: dict[str, float] = field(default_factory=dict)
    _failures: dict[str, int] = field(default_factory=dict)
    _live: frozenset[str] = field(init=False)
    _last_was_live: bool = False
    # What a pass of the others did not come to, before live models had their turn.
    _left: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        # What landed while nobody built.
        self._due = set(self.models.chosen)
        self._live = frozenset(self.models.live())

    def grew(self, nodes: Iterable[str]) -> None:
        """Some nodes have more rows than before, so all below them is behind."""
        self._due |= self.models.below(nodes)

    def abandoned(self, models: Set[str]) -> None:
        """Somebody else has begun to build these models, and does not go on."""
        self._due |= models & self.models.chosen.keys()

    def next(self, taken: Set[str] = frozenset()) -> BuildBatch | None:
        """The models to build now, live ones first; None while there is nothing to do.

        `taken` are models that someone else builds; they and what is below them wait. After a
        live pass the others have their turn, however fast the live ones grow.
        """
        ready = self._ready(taken)
        live, rest = ready & self._live, ready - self._live
        # In each pass the same models come first; those that it did not come to have the next one.
        rest = rest & self._left or rest
        chosen = rest if rest and (self._last_was_live or not live) else live
        if not chosen:
            return None
        self._last_was_live = chosen is live
        self._due -= chosen
        return BuildBatch(frozenset(chosen), chosen is live)

    def is_live_waiting(self, taken: Set[str] = frozenset()) -> bool:
        """Whether a live model is behind that could be built now."""
        return bool(self._ready(taken) & self._live)

    def ended(self, began: float, outcomes: Mapping[str, Outcome]) -> None:
        """What became of the models of a pass that began at `began`.

        What is below a model that was built, and was not part of the pass, is behind now: it may
        have been built since the stream grew, but before this model was.
        """
        if others := outcomes.keys() - self._live:
            failed = {model for model in others if outcomes[model] is Outcome.FAILED}
            left = {model for model in others if outcomes[model] is Outcome.LEFT}
            self._left = left - self.models.below(failed)
        built = [model for model, outcome in outcomes.items() if outcome is Outcome.BUILT]
        self._due |= self.models.below(built) - outcomes.keys()
        for model, outcome in outcomes.items():
            if outcome is Outcome.BUILT:
                self._failures.pop(model, None)
                self._not_before[model] = began + self.models.chosen[model].pace.total_seconds()
                continue
            self._due.add(model)
            if outcome is Outcome.FAILED:
                count = self._failures.get(model, 0)
                self._failures[model] = count + 1
                # Past the most, a larger power changes nothing.
                seconds = min(_FIRST * 2 ** min(count, 10), _MOST)
                self._not_before[model] = self.clock() + seconds

    def seconds_to_retry(self, model: str) -> float:
        """How long a model waits yet."""
        return max(0.0, self._not_before.get(model, 0.0) - self.clock())

    def _ready(self, taken: Set[str]) -> set[str]:
        now = self.clock()
        waiting = {model for model in self._due if self._not_before.get(model, now) > now}
        failing = {model for model in waiting if model in self._failures}
        held = set(taken) | failing
        return self._due - waiting - held - self.models.below(held)
