"""Globs over names of files and types: `*`, `?`, `[a-z]`, `[!a-z]` and `{one,other}`."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import lru_cache
from itertools import islice

# Globs that one with braces may stand for: each name is compared with each of them.
_MOST_ALTERNATIVES = 100


def matches(name: str, glob: str) -> bool:
    """Whether a name matches a glob, upper and lower case apart."""
    return any(fnmatchcase(name, one) for one in alternatives(glob))


@lru_cache(maxsize=1_000)
def alternatives(glob: str) -> tuple[str, ...]:
    """The globs without braces that a sound glob stands for."""
    return tuple(_expanded(glob))


def glob_problem(glob: str) -> str | None:
    """Why a glob is refused; None where it is sound."""
    if not glob:
        return "an empty glob matches no name"
    if reason := _problem_of_letters(glob):
        return f"{glob!r}: {reason}"
    if len(list(islice(_expanded(glob), _MOST_ALTERNATIVES + 1))) > _MOST_ALTERNATIVES:
        return f"{glob!r}: stands for more than {_MOST_ALTERNATIVES} globs"
    return None


def _problem_of_letters(glob: str) -> str | None:
    refused = {
        "[": "a [ without its ]; write [[] for the bracket itself",
        "\\": "a backslash escapes nothing; write [*] for a star itself",
    }
    depth = 0
    for place, letter in _letters(glob):
        depth += (letter == "{") - (letter == "}")
        if letter in refused or depth < 0:
            return refused.get(letter, "a } without its {; write [}] for the brace itself")
        if glob.startswith("[^", place):
            return "write [!abc] for any letter but these"
        if glob.startswith("**", place):
            return "write one *, which matches any text"
    return "a { without its }; write [{] for the brace itself" if depth else None


def _letters(glob: str) -> Iterator[tuple[int, str]]:
    """Each letter with its place; of a closed `[class]` a space in its first place."""
    place = 0
    while place < len(glob):
        end = _end_of_class(glob, place)
        yield place, " " if end else glob[place]
        place = (end or place) + 1


def _end_of_class(glob: str, start: int) -> int:
    """Where the class that begins at `start` ends, by the rule of fnmatch; 0 where none does."""
    if glob[start] != "[":
        return 0
    first = start + 1 + glob.startswith("!", start + 1)
    return max(glob.find("]", first + 1), 0)


def _expanded(glob: str) -> Iterator[str]:
    letters = list(_letters(glob))
    start = next((place for place, letter in letters if letter == "{"), None)
    if start is None:
        yield glob
        return
    depth, cuts, end = 0, [start], start
    for place, letter in letters:
        if place < start:
            continue
        depth += (letter == "{") - (letter == "}")
        if letter == "," and depth == 1:
            cuts.append(place)
        if not depth:
            end = place
            break
    for one, following in zip(cuts, [*cuts[1:], end], strict=True):
        yield from _expanded(glob[:start] + glob[one + 1 : following] + glob[end + 1 :])
