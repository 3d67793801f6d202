"""Which files of a batch are to blame for an error that nothing else explains.

Parts of the batch land in a lake of their own, which is thrown away: half of the files, half of
those that fail, and so on. The stream's tables see nothing of it, so the process may be killed
meanwhile.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import uuid4

from ingest.declarations.stream import Stream
from ingest.runtime.spark_errors import cause, may_be_of_a_file
from ingest.storage.layout import Lake

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ingest.landing.batch import BatchProcessor

log = logging.getLogger(__name__)

# So many files that fail alike, where none of as many others lands, are not what is wrong.
_ALIKE = 16


@dataclass(frozen=True, slots=True)
class Blame:
    """Finds the files; `landing_in` makes what lands those of the stream in a lake of its own."""

    lake: Lake
    stream: Stream
    landing_in: Callable[[Lake], BatchProcessor]

    def files(self, paths: Sequence[str], error: Exception) -> Mapping[str, str]:
        """The files that fail by themselves, with the reason; none where that is not their fault.

        Raises what is no file's fault and is met on the way.
        """
        if not may_be_of_a_file(error):
            return {}
        line = "%s: a batch of %d files does not land (%s); looking for the file"
        log.error(line, self.stream.name, len(paths), cause(error))
        found = failing(paths, self._failure)
        return {path: f"{path}: does not land: {reason}" for path, reason in found.items()}

    def _failure(self, paths: Sequence[str]) -> str | None:
        """Why some files do not land; None where they do."""
        with self._trial() as lake:
            try:
                self.landing_in(lake).try_out(paths)
            except Exception as error:
                if not may_be_of_a_file(error):
                    raise
                return cause(error)
        return None

    @contextmanager
    def _trial(self) -> Iterator[Lake]:
        storage, folder = self.lake.storage, self.lake.trials(self.stream.table)
        # A process may have been killed here.
        storage.delete_tree(folder)
        try:
            # Spark remembers tables by their folders.
            yield Lake(storage.url(f"{folder}/{uuid4().hex}"))
        finally:
            storage.delete_tree(folder)


def failing(
    paths: Sequence[str], failure: Callable[[Sequence[str]], str | None]
) -> Mapping[str, str]:
    """Of files that fail together those that fail by themselves, with the reason.

    None where `_ALIKE` files fail for the same reason and none lands: then it is not in them.
    """
    found: dict[str, str] = {}
    waiting, has_landed = [paths], False
    while waiting:
        some = waiting.pop(0)
        if len(some) == 1 or some is not paths:
            reason = failure(some)
            if reason is None:
                has_landed = True
                continue
            if len(some) == 1:
                found[some[0]] = reason
                if not has_landed and len(found) >= _ALIKE and _are_alike(found):
                    has_landed = _is_any_sound(waiting, failure)
                    if not has_landed:
                        return {}
                continue
        half = len(some) // 2
        waiting[:0] = [some[:half], some[half:]]
    return found


def _is_any_sound(
    groups: Sequence[Sequence[str]], failure: Callable[[Sequence[str]], str | None]
) -> bool:
    """Whether one of some files lands, of which a few are tried, far apart."""
    paths = [path for some in groups for path in some]
    return any(failure([path]) is None for path in paths[:: 1 + len(paths) // _ALIKE])


def _are_alike(reasons: Mapping[str, str]) -> bool:
    """Whether the reasons are one, but for the files' names and numbers."""
    plain = {
        re.sub(r"\d+", "0", reason.replace(path, "").replace(path.rpartition("/")[2], ""))
        for path, reason in reasons.items()
    }
    return len(plain) == 1
