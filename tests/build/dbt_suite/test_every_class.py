"""Every class of tests that dbt Labs publishes for adapters, as it stands.

Classes and tests that are not run are named below, each with the reason. HEADWATER_STOCK_DBT=1
runs all of them on dbt-spark as it comes.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import dbt.tests.adapter
import pytest

from tests.build.dbt_suite.conftest import STOCK

# Classes, or tests of a class, by why they do not hold here as they stand.
NOT_HERE: Final[Mapping[str, str]] = {
    "SQL or types of PostgreSQL; each adapter writes its own": """
        BaseAliases BaseSameAliasDifferentSchemas BaseSameAliasDifferentDatabases
        BasePostgresColumnTypes BaseDocsGenerate BaseDocsGenReferences
        BaseConstraintsColumnsEqual BaseConstraintsRuntimeDdlEnforcement BaseConstraintsRollback
        BaseTableConstraintsColumnsEqual BaseViewConstraintsColumnsEqual
        BaseIncrementalConstraintsColumnsEqual BaseIncrementalConstraintsRuntimeDdlEnforcement
        BaseIncrementalConstraintsRollback BaseContractSqlHeader BaseTableContractSqlHeader
        BaseIncrementalContractSqlHeader BaseModelConstraintsRuntimeEnforcement
        BaseConstraintQuotedColumn BaseShowDoesNotHandleDoubleLimit BaseEphemeralMulti
        BaseEphemeralNested BasePersistDocs BasePersistDocsColumnMissing.test_missing_column
        BasePersistDocsCommentOnQuotedColumn BaseBasicSeedTests BaseSeedConfigFullRefreshOn
        BaseSeedConfigFullRefreshOff BaseSeedCustomSchema BaseSeedWithUniqueDelimiter
        BaseSeedWithWrongDelimiter BaseSeedWithEmptyDelimiter BaseSeedParsing
        BaseSimpleSeedWithBOM BaseSeedSpecificFormats BaseSimpleSeedColumnOverride
        BaseSimpleCopyUppercase EmptyModelsArentRunBase
        BaseUnitTestQuotedReservedWordColumnNames
        BaseTypeFloat BaseTypeInt BaseCurrentTimestampAware.test_current_timestamp_type
        BaseCurrentTimestamps BaseListagg""",
    "reads files that the package does not have": """
        BasePrePostModelHooks BaseHookRefs BasePrePostModelHooksInConfig
        BasePrePostModelHooksInConfigWithCount BasePrePostModelHooksInConfigKwargs
        BasePrePostRunHooks BaseAfterRunHooks""",
    "changes its tables by UPDATE and DELETE, and makes them without Delta": """
        BaseSimpleSnapshot BaseSnapshotCheck BaseSnapshotColumnNames
        BaseSnapshotColumnNamesFromDbtProject BaseSnapshotInvalidColumnNames
        BaseSnapshotDbtValidToCurrent BaseSnapshotMultiUniqueKey""",
    "names databases, of which Spark's catalog has one": """
        BaseCloneSameSourceAndTarget BaseSnapshotEphemeralHardDeletes
        BaseSnapshotNewColumnTimestampStrategy BaseSnapshotNewColumnSpecificCheckCols
        BaseSnapshotNewColumnWithDeletes""",
    "needs a part that dbt-spark does not have": """
        BaseGetCatalogForSingleRelation BaseCachingTest BaseCachingLowercaseModel
        BaseCachingUppercaseModel BaseCachingSelectedSchemaOnly BaseNoPopulateCache
        BasicJSUDF JSUDFMultiLineBody JSUDFDeterministicVolatility JSUDFNonDeterministicVolatility
        JSUDFStableVolatilityWarns JSUDFDefaultArgSupport BasicJSAggregateUDF
        JSAggregateUDFVolatilityIgnored UDAFBase BasicPythonUDAF BasicSQLUDAF
        PythonUDAFDefaultArgSupport UDFsBasic DeterministicUDF StableUDF NonDeterministicUDF
        PythonUDFSupported SqlUDFDefaultArgSupport PythonUDFDefaultArgSupport
        PythonUDFVolatilitySupport CanFindScalarFunctionRelation PythonUDFWithPackagesSupported
        BaseDateDiff BaseGetIntervalsBetween
        BaseTestEmptySeedFlag.test_seed_empty_creates_table_with_zero_rows
        BaseTestEmptySeedFlag.test_seed_empty_preserves_column_types
        BaseTestEmptySeedFlag.test_build_empty_with_seed""",
    "refused in one line: grants, options of Redshift, columns that Delta would drop": """
        BaseIncrementalGrants BaseInvalidGrants BaseModelGrants BaseSeedGrants BaseSnapshotGrants
        BaseTableMaterialization SimpleCopyBase MetadataWithEmptyFlag
        BaseIncrementalOnSchemaChange.test_run_incremental_append_new_columns
        BaseIncrementalOnSchemaChange.test_run_incremental_sync_all_columns""",
    "expects dbt-core's words for a strategy that is not there": "BaseIncrementalBadStrategy",
    "passes with the merge, or the Delta, that it leaves out (test_dbt_suite.py)": """
        BaseIncrementalPredicates BaseIncrementalUniqueKey BaseUnitTestingTypes BaseClonePossible
        StoreTestFailuresBase""",
    "imports Koalas, which is no longer published; its other frames pass": "BasePySparkTests",
}


def published() -> Iterator[type]:
    """The classes that have tests and are meant to be inherited."""
    for folder in map(Path, dbt.tests.adapter.__path__):
        for file in sorted(folder.rglob("test_*.py")):
            parts = file.relative_to(folder).with_suffix("").parts
            module = importlib.import_module(".".join(("dbt.tests.adapter", *parts)))
            for name, one in vars(module).items():
                is_own = inspect.isclass(one) and one.__module__ == module.__name__
                if is_own and not name.startswith("Test") and any(map(is_test, dir(one))):
                    yield one


def is_test(name: str) -> bool:
    """Whether pytest takes it for a test."""
    return name.startswith("test")


def nothing(self: object) -> None:
    """In place of a test that is not run."""


def inherited(base: type, reasons: Mapping[str, str]) -> type:
    """A class of a published one, whose tests that are not here are skipped with their reason."""
    attributes: dict[str, Any] = {}
    for name in filter(is_test, dir(base)):
        reason = reasons.get(base.__name__) or reasons.get(f"{base.__name__}.{name}")
        if reason and not STOCK:
            attributes[name] = pytest.mark.skip(reason=reason)(nothing)
    return type(f"Test{base.__name__}", (base,), attributes)


_REASONS = {name: reason for reason, names in NOT_HERE.items() for name in names.split()}
_PUBLISHED = list(published())
for _base in _PUBLISHED:
    globals()[f"Test{_base.__name__}"] = inherited(_base, _REASONS)


def test_all_that_are_not_here_are_published() -> None:
    names = {one.__name__ for one in _PUBLISHED}
    assert not {name.split(".")[0] for name in _REASONS} - names
