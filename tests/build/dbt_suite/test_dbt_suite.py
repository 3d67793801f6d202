"""What dbt Labs checks of an adapter, where an adapter has to write a part of its own.

Constraints and the storing of failures are in files beside this one, what needs no part of ours in
`test_every_class.py`.
"""

from __future__ import annotations

from typing import Any

import pytest
from dbt.tests.adapter.dbt_clone.test_dbt_clone import BaseClonePossible
from dbt.tests.adapter.incremental.test_incremental_merge_exclude_columns import (
    BaseMergeExcludeColumns,
)
from dbt.tests.adapter.incremental.test_incremental_on_schema_change import (
    BaseIncrementalOnSchemaChangeSetup,
)
from dbt.tests.adapter.incremental.test_incremental_predicates import BaseIncrementalPredicates
from dbt.tests.adapter.incremental.test_incremental_unique_id import BaseIncrementalUniqueKey
from dbt.tests.adapter.store_test_failures_tests.test_store_test_failures import (
    TEST_AUDIT_SCHEMA_SUFFIX,
    StoreTestFailuresBase,
)
from dbt.tests.adapter.unit_testing.test_types import BaseUnitTestingTypes
from dbt.tests.util import run_dbt

MERGE = {"models": {"+incremental_strategy": "merge"}}


class TestUnitTestingTypes(BaseUnitTestingTypes):
    @pytest.fixture
    def data_types(self) -> list[list[str]]:
        return [
            ["1", "1"],
            ["2.0", "2.0"],
            ["'12345'", "12345"],
            ["'string'", "string"],
            ["true", "true"],
            ["date '2011-11-11'", "2011-11-11"],
            ["timestamp '2013-11-03 00:00:00-0'", "2013-11-03 00:00:00-0"],
        ]


class TestIncrementalUniqueKey(BaseIncrementalUniqueKey):
    @pytest.fixture(scope="class")
    def project_config_update(self) -> dict[str, Any]:
        return MERGE


class TestMergeExcludeColumns(BaseMergeExcludeColumns):
    @pytest.fixture(scope="class")
    def project_config_update(self) -> dict[str, Any]:
        return MERGE


class TestIncrementalPredicates(BaseIncrementalPredicates):
    @pytest.fixture(scope="class")
    def project_config_update(self) -> dict[str, Any]:
        predicates = ["dbt_internal_dest.id != 2"]
        return {"models": MERGE["models"] | {"+incremental_predicates": predicates}}

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {"delete_insert_incremental_predicates.sql": _PREDICATES_SQL}


class TestSchemaChange(BaseIncrementalOnSchemaChangeSetup):
    """As dbt-spark: Delta drops no columns, and says so."""

    @pytest.fixture(scope="class")
    def project_config_update(self) -> dict[str, Any]:
        return {"models": MERGE["models"] | {"+unique_key": "id"}}

    def test_append_new_columns(self, project: Any) -> None:
        self.run_incremental_append_new_columns(project)  # type: ignore[no-untyped-call]

    def test_append_new_columns_where_one_is_gone(self, project: Any) -> None:
        """dbt-spark leaves this one out; a merge with schema evolution can."""
        self.run_incremental_append_new_columns_remove_one(project)  # type: ignore[no-untyped-call]

    @pytest.mark.usefixtures("project")
    @pytest.mark.parametrize("change", ["sync_all_columns", "sync_remove_only"])
    def test_a_removed_column_is_a_compilation_error(self, change: str) -> None:
        select = f"model_a incremental_{change} incremental_{change}_target"
        run_dbt(["run", "--select", *select.split(), "--full-refresh"])
        results = run_dbt(["run", "--select", *select.split()], expect_pass=False)
        assert "Compilation Error" in results[1].message


class TestStoreTestFailures(StoreTestFailuresBase):
    @pytest.fixture(scope="class")
    def project_config_update(self) -> dict[str, Any]:
        types = self.column_type_overrides()  # type: ignore[no-untyped-call]
        return {
            "seeds": {"quote_columns": False, "test": types},
            "data_tests": {
                "+schema": TEST_AUDIT_SCHEMA_SUFFIX,
                "+store_failures": True,
                "+file_format": "delta",
            },
        }

    def test_store_and_assert(self, project: Any) -> None:
        self.run_tests_store_one_failure(project)  # type: ignore[no-untyped-call]
        self.run_tests_store_failures_and_assert(project)  # type: ignore[no-untyped-call]


class TestClonePossible(BaseClonePossible):
    @pytest.fixture(autouse=True)
    def clean_up(self, project: Any) -> Any:
        yield
        with project.adapter.connection_named("__test"):
            for schema in (f"{project.test_schema}_seeds", project.test_schema):
                relation = project.adapter.Relation.create(schema=schema)
                project.adapter.drop_schema(relation)


_PREDICATES_SQL = """
{{ config(materialized='incremental', unique_key='id') }}
{% if not is_incremental() %}
select cast(1 as bigint) as id, 'hello' as msg, 'blue' as color
union all
select cast(2 as bigint) as id, 'goodbye' as msg, 'red' as color
{% else %}
select cast(1 as bigint) as id, 'hey' as msg, 'blue' as color
union all
select cast(2 as bigint) as id, 'yo' as msg, 'green' as color
union all
select cast(3 as bigint) as id, 'anyway' as msg, 'purple' as color
{% endif %}
"""
