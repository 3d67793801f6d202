"""Options that are read, by who reads them."""

from __future__ import annotations

# This project's macros read these from `config`, or from its `meta`.
MERGE = frozenset(
    [
        "matched_condition",
        "merge",
        "merge_bounds",
        "merge_with_schema_evolution",
        "not_matched_by_source_action",
        "not_matched_by_source_condition",
        "not_matched_condition",
        "skip_matched_step",
        "skip_not_matched_step",
        "source_alias",
        "target_alias",
    ]
)
APPLY_CHANGES = frozenset(
    [
        "apply_as_deletes",
        "apply_as_truncates",
        "column_list",
        "columns_to_update",
        "deletes_win_ties",
        "end_column",
        "except_column_list",
        "ignore_null_updates",
        "ignore_null_updates_column_list",
        "ignore_null_updates_except_column_list",
        "keep_deleted",
        "keys",
        "sequence_by",
        "snapshot_by",
        "source_position",
        "start_column",
        "stored_as_scd_type",
        "tombstone_retention",
        "track_history_column_list",
        "track_history_except_column_list",
        "unavailable_value",
    ]
)
OURS = (
    MERGE
    | APPLY_CHANGES
    | {"databricks_tags", "liquid_clustered_by", "skip_empty_batches", "tblproperties"}
)
# dbt's adapters read these, besides the fields of dbt's own classes.
ADAPTERS = frozenset(
    [
        "buckets",
        "clustered_by",
        "file_format",
        "hard_deletes",
        "incremental_predicates",
        "invalidate_hard_deletes",
        "location_root",
        "merge_exclude_columns",
        "merge_update_columns",
        "options",
        "partition_by",
        "predicates",
        "sql_header",
    ]
)
# What dbt itself notes of a Python model.
OF_PYTHON = {"config_keys_defaults", "config_keys_used", "meta_keys_defaults", "meta_keys_used"}
