"""One lake, one Spark session and one dbt for all tests that build."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.build.lake import Lake, environment, small_profile

# dbt plans a few hundred statements over a handful of rows, all different: Java that is generated
# and compiled for each would take a quarter of the time. The processes that tests/spark starts
# compile as always.
INTERPRETED = "-Dspark.sql.codegen.wholeStage=false -Dspark.sql.codegen.factoryMode=NO_CODEGEN"
# A query is planned once, not after each of its stages: with few rows there is nothing to learn.
PLANNED_ONCE = "-Dspark.sql.adaptive.enabled=false"
# The catalog of a test need not survive a power cut. Each of dbt's threads opens it anew, and asks
# it first whether it understands plain SQL: that costs more than plain SQL ever saves here.
FORGETFUL = "-Dderby.system.durability=test -Dspark.hadoop.hive.metastore.try.direct.sql=false"


@pytest.fixture(scope="session", autouse=True)
def interpreted() -> Iterator[None]:
    """Every JVM that these tests start, here or in a process of its own."""
    java = f"{os.environ['HEADWATER_JAVA_OPTIONS']} {INTERPRETED} {PLANNED_ONCE} {FORGETFUL}"
    with environment(HEADWATER_JAVA_OPTIONS=java):
        yield


@pytest.fixture(scope="session")
def shared_lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    """The process's only lake: where the warehouse lies is settled when Spark starts."""
    root = tmp_path_factory.mktemp("a lake")
    (root / "landing").mkdir()
    (root / "profiles").mkdir()
    (root / "profiles" / "profiles.yml").write_text(small_profile(), encoding="utf-8")
    lake = Lake(path=root / "lake", target=root / "target", profiles=root / "profiles")
    with environment(HEADWATER_LAKE=str(lake.path), HEADWATER_LANDING=str(root / "landing")):
        answer = lake.dbt("show", "--inline", "select 1")
        assert answer.success, answer.exception
        yield lake


@pytest.fixture
def lake(shared_lake: Lake) -> Lake:
    """An empty lake."""
    shared_lake.empty()
    return shared_lake
