"""Failures of tests kept as tables and views, as dbt Labs checks it of an adapter, on Delta."""

from __future__ import annotations

from dbt.tests.adapter.store_test_failures_tests import basic


class TestAsInteractions(basic.StoreTestFailuresAsInteractions):
    pass


class TestAsProjectLevelOff(basic.StoreTestFailuresAsProjectLevelOff):
    pass


class TestAsProjectLevelView(basic.StoreTestFailuresAsProjectLevelView):
    pass


class TestAsGeneric(basic.StoreTestFailuresAsGeneric):
    pass


class TestAsProjectLevelEphemeral(basic.StoreTestFailuresAsProjectLevelEphemeral):
    pass


class TestAsExceptions(basic.StoreTestFailuresAsExceptions):
    pass
