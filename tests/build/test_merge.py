"""The day on which dbt-spark's own merge will do; test_incremental shows ours."""

from __future__ import annotations

from pathlib import Path

import dbt.include.spark

ADAPTER = Path(next(iter(dbt.include.spark.__path__)))


def test_dbt_spark_still_knows_no_matched_condition() -> None:
    """When this goes red: remove macros/merge/spark__get_merge_sql.sql, or what of it remains."""
    strategies = ADAPTER / "macros" / "materializations" / "incremental" / "strategies.sql"
    assert "matched_condition" not in strategies.read_text()
