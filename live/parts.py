"""Whether the parts of the stack still run, which a marketplace cannot do without."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import psycopg
from confluent_kafka import KafkaException

from ingest.errors import StackFailed
from ingest.stack.stack import Stack

# What clients of a part raise that does not answer.
CLIENT_ERRORS = (psycopg.Error, KafkaException)
# Seconds between two looks, each of which starts some short programs.
_LOOK_EVERY = 5.0


@dataclass(slots=True)
class Parts:
    """Those of a stack that has been started."""

    stack: Stack
    _looked: float = 0.0

    def look(self) -> None:
        """Look, where it is time. Raises StackFailed where a part has ended."""
        if time.monotonic() - self._looked > _LOOK_EVERY:
            self.refuse_loss()
            self._looked = time.monotonic()

    def refuse_loss(self) -> None:
        """Raises StackFailed where a part has ended."""
        # Ctrl-C ends the programs of a look, too, which then tell nothing of a part: so twice.
        if self._ended() and (ended := self._ended()):
            state, name = ended[0]
            raise StackFailed(f"{name} was {state}; see {self.stack.log(name)}")

    @contextmanager
    def named(self) -> Iterator[None]:
        """Raises StackFailed where clients of a part fail, with its name where it has ended."""
        try:
            yield
        except CLIENT_ERRORS as error:
            self.refuse_loss()
            said = (str(error).splitlines() or [type(error).__name__])[0]
            raise StackFailed(
                f"a part of the stack does not answer as it should: {said}"
            ) from error

    def _ended(self) -> list[tuple[str, str]]:
        return [(one.state, one.service) for one in self.stack.status() if one.state != "running"]
