"""What the options of a merge must not say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ingest.model_options.known import MERGE

# These are one clause of each kind, which `merge` lists instead.
_CLAUSES = frozenset(name for name in MERGE if name.endswith(("_action", "_condition", "_step")))
_RULES = {"merge", "matched_condition", "not_matched_by_source_action", "skip_matched_step"}
_THEN = {
    "matched": "delete, update or update set …",
    "not_matched": "insert",
    "not_matched_by_source": "delete or update set …",
}


def merge_problems(given: Mapping[str, Any], unique_key: Any) -> Iterator[str]:
    """Why the options of a merge contradict each other, or say nothing."""
    for name in sorted(_RULES & set(given)) if not unique_key else ():
        yield f"{name} needs a unique_key"
    if "merge" in given:
        for name in sorted(_CLAUSES & set(given)):
            yield f"{name} and merge exclude each other; write it as a clause of merge"
        yield from _clause_problems(given["merge"])
        return
    for step in ("matched", "not_matched"):
        if _is_true(given.get(f"skip_{step}_step")) and f"{step}_condition" in given:
            yield f"{step}_condition has no meaning where skip_{step}_step is true"
    action = given.get("not_matched_by_source_action")
    if action is None and "not_matched_by_source_condition" in given:
        yield "not_matched_by_source_condition needs not_matched_by_source_action"
    elif action is not None and not _fits("not_matched_by_source", action):
        then = _THEN["not_matched_by_source"]
        yield f"not_matched_by_source_action is {then}, not {action}"
    skipped = (_is_true(given.get(f"skip_{step}_step")) for step in ("matched", "not_matched"))
    if all(skipped) and action is None:
        yield "skip_matched_step and skip_not_matched_step leave the merge nothing to do"


def _clause_problems(clauses: Any) -> Iterator[str]:
    if not isinstance(clauses, list) or not clauses:
        yield "merge is a list of clauses such as {when: matched, condition: …, then: delete}"
        return
    has_condition: dict[str, bool] = {}
    for clause in clauses:
        if not isinstance(clause, Mapping) or not {"when", "then"} <= set(clause) <= {
            *("when", "then", "condition"),
        }:
            yield f"a clause of merge has when, then and maybe condition, not {clause}"
        elif clause["when"] not in _THEN:
            yield f"when in merge is {', '.join(_THEN)}, not {clause['when']}"
        elif not _fits(clause["when"], clause["then"]):
            then = _THEN[clause["when"]]
            yield f"then of {clause['when']} in merge is {then}, not {clause['then']}"
        else:
            if has_condition.get(clause["when"]) is False:
                yield f"only the last clause of merge for {clause['when']} may have no condition"
            has_condition[clause["when"]] = bool(clause.get("condition"))
    if has_condition.get("not_matched") is False and any(
        isinstance(one, Mapping)
        and (one.get("when"), str(one.get("then")).lower()) == ("matched", "delete")
        for one in clauses
    ):
        # A row whose delete comes first, or comes again after a build was killed, is not matched.
        yield (
            "merge deletes matched rows: give its clause for not_matched a condition, "
            "or a deleted row that the table does not have would be inserted"
        )


def _fits(when: str, then: Any) -> bool:
    """Whether an action goes with rows of this kind."""
    action = " ".join(str(then).lower().split())
    if when == "not_matched":
        return action == "insert"
    is_update = action.startswith("update set ") or (when == "matched" and action == "update")
    return is_update or action == "delete"


def _is_true(value: Any) -> bool:
    """A truth value as dbt-databricks reads it, which may be text."""
    return str(value).lower() == "true"
