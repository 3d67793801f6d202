"""Contracts and constraints, as dbt Labs checks them of an adapter, on Delta."""

from __future__ import annotations

from typing import Any

import pytest
from dbt.tests.adapter.constraints import fixtures
from dbt.tests.adapter.constraints.test_constraints import (
    BaseConstraintsRollback,
    BaseConstraintsRuntimeDdlEnforcement,
    BaseIncrementalConstraintsColumnsEqual,
    BaseIncrementalConstraintsRollback,
    BaseIncrementalConstraintsRuntimeDdlEnforcement,
    BaseTableConstraintsColumnsEqual,
    BaseViewConstraintsColumnsEqual,
)

YML = fixtures.model_schema_yml.replace("text", "string").replace("primary key", "")
FOREIGN_KEY_YML = fixtures.model_fk_constraint_schema_yml.replace("text", "string").replace(
    "primary key", ""
)
EXPECTED_SQL = """
create or replace table <model_identifier>
    using delta
    as
select
  id,
  color,
  date_day
from

(
    -- depends_on: <foreign_key_model_identifier>
    select
    'blue' as color,
    1 as id,
    '2019-01-01' as date_day ) as model_subq
"""


class SessionTypes:
    """What the session method calls types."""

    @pytest.fixture
    def string_type(self) -> str:
        return "string"

    @pytest.fixture
    def int_type(self) -> str:
        return "int"

    @pytest.fixture
    def schema_string_type(self) -> str:
        return "string"

    @pytest.fixture
    def schema_int_type(self) -> str:
        return "int"

    @pytest.fixture
    def data_types(self) -> list[list[str]]:
        return [
            ["1", "int", "int"],
            ['"1"', "string", "string"],
            ["true", "boolean", "boolean"],
            ["array(1,2,3)", "array<int>", "array<int>"],
            ["cast('2019-01-01' as date)", "date", "date"],
            ["cast('2019-01-01' as timestamp)", "timestamp", "timestamp"],
        ]


class NamesAndOrder(SessionTypes):
    """Without the tests of types: their model is a table in every class, as in the first one."""

    test__constraints_wrong_column_data_types: Any = None
    test__constraints_correct_column_data_types: Any = None


class TestTableColumnsEqual(SessionTypes, BaseTableConstraintsColumnsEqual):
    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {
            "my_model_wrong_order.sql": fixtures.my_model_wrong_order_sql,
            "my_model_wrong_name.sql": fixtures.my_model_wrong_name_sql,
            "constraints_schema.yml": YML,
        }


class TestViewColumnsEqual(NamesAndOrder, BaseViewConstraintsColumnsEqual):
    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {
            "my_model_wrong_order.sql": fixtures.my_model_view_wrong_order_sql,
            "my_model_wrong_name.sql": fixtures.my_model_view_wrong_name_sql,
            "constraints_schema.yml": YML,
        }


class TestIncrementalColumnsEqual(NamesAndOrder, BaseIncrementalConstraintsColumnsEqual):
    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {
            "my_model_wrong_order.sql": fixtures.my_model_incremental_wrong_order_sql,
            "my_model_wrong_name.sql": fixtures.my_model_incremental_wrong_name_sql,
            "constraints_schema.yml": YML,
        }


class SparkDdl:
    @pytest.fixture(scope="class")
    def expected_sql(self) -> str:
        return EXPECTED_SQL


class TestTableDdlEnforcement(SparkDdl, BaseConstraintsRuntimeDdlEnforcement):
    @pytest.fixture(scope="class")
    def models(self) -> dict[str, Any]:
        return {
            "my_model.sql": fixtures.my_model_wrong_order_depends_on_fk_sql,
            "foreign_key_model.sql": fixtures.foreign_key_model_sql,
            "constraints_schema.yml": FOREIGN_KEY_YML,
        }


class TestIncrementalDdlEnforcement(SparkDdl, BaseIncrementalConstraintsRuntimeDdlEnforcement):
    @pytest.fixture(scope="class")
    def models(self) -> dict[str, Any]:
        return {
            "my_model.sql": fixtures.my_model_incremental_wrong_order_depends_on_fk_sql,
            "foreign_key_model.sql": fixtures.foreign_key_model_sql,
            "constraints_schema.yml": FOREIGN_KEY_YML,
        }


class SparkRollback:
    @pytest.fixture(scope="class")
    def expected_error_messages(self) -> list[str]:
        return ["DELTA_NEW_CHECK_CONSTRAINT_VIOLATION", "DELTA_VIOLATE_CONSTRAINT_WITH_VALUES"]

    def assert_expected_error_messages(self, error_message: str, expected: list[str]) -> None:
        """Constraints are added one by one; the first that is violated speaks."""
        assert any(message in error_message for message in expected)


class TestTableRollback(SparkRollback, BaseConstraintsRollback):
    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {"my_model.sql": fixtures.my_model_sql, "constraints_schema.yml": YML}

    @pytest.fixture(scope="class")
    def expected_color(self) -> str:
        """Constraints are added after the table is replaced, and nothing takes it back."""
        return "red"


class TestIncrementalRollback(SparkRollback, BaseIncrementalConstraintsRollback):
    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {"my_model.sql": fixtures.my_incremental_model_sql, "constraints_schema.yml": YML}
