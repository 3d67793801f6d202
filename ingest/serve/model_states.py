"""When each model was last built by `ingest serve`, for a person who looks without Spark."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime

from ingest.serve.build_queue import Built, Outcome
from ingest.serve.models import Model
from ingest.storage.json_files import read_json, write_json
from ingest.storage.layout import Lake

# In the folder of progress; files of streams begin with no underscore.
_FILE = "_models.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelState:
    """One model: `built`, `failed` or `never built`; when it was built, and how long that took."""

    model: str
    live: bool = False
    state: str = "never built"
    built_at: str | None = None
    seconds: float | None = None
    error: str | None = None

    def after(self, built: Built, at: str) -> ModelState:
        """This state after a pass."""
        if built.outcome is Outcome.BUILT:
            seconds = round(built.seconds, 2)
            return replace(self, state="built", built_at=at, seconds=seconds, error=None)
        if built.outcome is Outcome.FAILED:
            return replace(self, state="failed", error=built.error)
        return self


def model_states(lake: Lake) -> list[ModelState]:
    """The states of the models that `ingest serve` builds, by name; none where it never ran."""
    found = read_json(lake.storage, lake.progress(_FILE)) or []
    return [ModelState(**one) for one in found]


class ModelStates:
    """The states, as the process that builds keeps them."""

    def __init__(self, lake: Lake, models: Iterable[Model]) -> None:
        self._lake = lake
        known = {one.model: one for one in model_states(lake)}
        self._states = {
            one.name: replace(known.get(one.name, ModelState(model=one.name)), live=one.is_live)
            for one in models
        }

    def is_news(self, model: str, built: Built) -> bool:
        """Whether a failure is another one than the last, which has been said."""
        return self._states[model].error != built.error

    def save(self, built: Mapping[str, Built]) -> None:
        """Take in a pass, and replace the file."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        for model, one in built.items():
            self._states[model] = self._states[model].after(one, now)
        written = [asdict(one) for _, one in sorted(self._states.items())]
        write_json(self._lake.storage, self._lake.progress(_FILE), written)
