"""Who builds which models, told by views that the test makes."""

from __future__ import annotations

from collections.abc import Set

import pytest

from ingest.serve.model_leases import CLAIM, GIVEN, SILENCE, ModelLeases


class Told:
    """Views and statements, as Spark would know them; the time, in seconds."""

    def __init__(self) -> None:
        self.asked: dict[str, frozenset[str]] = {}
        self.shown: set[str] = set()
        self.silent: dict[str, float] = {}
        self.now = 0.0

    def claimed(self) -> Set[str]:
        return self.asked.keys()

    def models(self, claim: str) -> frozenset[str]:
        return self.asked[claim]

    def silence(self, claim: str) -> float | None:
        return self.silent.get(claim)

    def show(self, name: str) -> None:
        self.shown.add(name)

    def hide(self, name: str) -> None:
        self.shown.discard(name)
        self.asked.pop(name.removeprefix(CLAIM), None)

    def has(self, claim: str) -> bool:
        """Whether a dbt has been given its models."""
        return f"{GIVEN}{claim}" in self.shown


@pytest.fixture
def told() -> Told:
    """A Spark that knows nothing yet."""
    return Told()


@pytest.fixture
def claims(told: Told) -> ModelLeases:
    """Claims that look when the test says so."""
    return ModelLeases(told, lambda: told.now)


def test_a_claim_waits_for_the_pass_that_builds_one_of_its_models(
    told: Told, claims: ModelLeases
) -> None:
    with claims.own({"orders", "daily"}) as is_free:
        assert is_free
        told.asked["ann"] = frozenset({"daily", "report"})
        told.asked["bob"] = frozenset({"map"})
        claims.look()
        assert (told.has("ann"), told.has("bob")) == (False, True)
    claims.look()
    assert told.has("ann")


def test_no_pass_begins_with_a_model_that_is_claimed(told: Told, claims: ModelLeases) -> None:
    told.asked["ann"] = frozenset({"daily"})
    claims.look()
    assert claims.taken() == {"daily"}
    with claims.own({"orders", "daily"}) as is_free:
        assert not is_free
    with claims.own({"orders"}) as is_free:
        assert is_free
    del told.asked["ann"]
    claims.look()
    assert not claims.taken()
    assert not told.has("ann")


def test_two_claims_of_one_model_follow_each_other_in_the_order_of_asking(
    told: Told, claims: ModelLeases
) -> None:
    told.asked["zoe"] = frozenset({"daily"})
    claims.look()
    told.asked["bob"] = frozenset({"daily", "map"})
    claims.look()
    told.asked["ann"] = frozenset({"map"})
    claims.look()
    assert [told.has(name) for name in ("zoe", "bob", "ann")] == [True, False, False]
    del told.asked["zoe"]
    claims.look()
    assert [told.has(name) for name in ("bob", "ann")] == [True, False]


def test_claim_within_one_run_is_reported(told: Told, claims: ModelLeases) -> None:
    with claims.own({"orders"}):
        told.asked["ann"] = frozenset({"daily"})
        claims.look()
        assert told.has("ann")
        del told.asked["ann"]
        claims.look()
    assert not claims.taken()
    assert claims.news() == (frozenset({"daily"}), frozenset())
    assert claims.news() == (frozenset(), frozenset())


def test_claim_of_a_silent_dbt_ends(told: Told, claims: ModelLeases) -> None:
    told.asked["ann"] = frozenset({"daily"})
    claims.look()
    told.now, told.silent["ann"] = 300.0, SILENCE - 1
    claims.look()
    assert told.has("ann"), "its last statement is not long ago"
    told.now, told.silent["ann"] = 302.0, SILENCE + 1
    claims.look()
    assert not claims.taken()
    assert not told.asked
    assert claims.news() == (frozenset({"daily"}), frozenset({"daily"})), "built again"
