"""dbt's own fixtures, on the checked-in profile and with this project's macros."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from dbt.tests.fixtures.project import *  # noqa: F403  (fixtures are found by their names)
from jinja2 import Template

from bench import stock_dbt
from tests.build.lake import ROOT, Lake, small_profile

# Every override of dbt-spark. Not `schemas` and `catalog`, which are about this project's lake.
MACROS: tuple[str, ...] = (
    *("incremental", "joins", "merge", "microbatch", "python", "runs", "seeds", "serve"),
    *("tables", "views"),
)
# dbt-spark as it comes, to compare with: neither our macros nor our plugin.
STOCK = bool(os.environ.get("HEADWATER_STOCK_DBT"))
if STOCK:
    stock_dbt.hide_plugin()
    MACROS = ()


@pytest.fixture(scope="session")
def empty_shared_lake(shared_lake: Lake) -> Lake:
    """The suite makes schemas of its own; the bookkeeping tables stand beside them."""
    shared_lake.empty()
    if not STOCK:
        assert shared_lake.dbt("build", "--select", "stg_shop__orders").success
    return shared_lake


@pytest.fixture(scope="class")  # type: ignore[no-redef]
def dbt_profile_target(empty_shared_lake: Lake) -> Any:
    """The profile's target `local`, for few rows."""
    assert empty_shared_lake.path
    text = Template(small_profile()).render(env_var=os.environ.get)
    profile = yaml.safe_load(text)["headwater"]
    return profile["outputs"][profile["target"]]


@pytest.fixture(scope="class")  # type: ignore[no-redef]
def dbt_project_yml(project_root: Any, project_config_update: Any) -> Any:
    """dbt's test project, with our macros and on Delta."""
    delta = {"+file_format": "delta"}
    config: dict[str, Any] = {
        "name": "test",
        "profile": "test",
        "flags": {"send_anonymous_usage_stats": False},
        "macro-paths": ["macros", *(str(ROOT / "macros" / topic) for topic in MACROS)],
    }
    config |= project_config_update
    for kind in ("models", "seeds", "snapshots"):
        config[kind] = delta | config.get(kind, {})
    Path(project_root, "dbt_project.yml").write_text(yaml.safe_dump(config))
    return config


@pytest.fixture(autouse=True, scope="class")
def in_the_working_directory() -> Iterator[None]:
    """dbt's fixtures change it."""
    here = Path.cwd()
    yield
    os.chdir(here)
