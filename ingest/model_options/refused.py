"""Options of dbt-databricks that cannot be had, and what to do: docs/reference/dbt-options.md."""

from __future__ import annotations

from collections.abc import Mapping

_NO_JOBS = "it configures a job of Databricks; remove it"
_NOT_NEEDED = "it is not needed here; remove it"
# Options of dbt-databricks that cannot be had: docs/reference/dbt-options.md.
REFUSED: Mapping[str, str] = {
    "auto_liquid_cluster": "only Databricks chooses columns itself; name them in "
    "liquid_clustered_by",
    "zorder": "builds run no OPTIMIZE; use liquid_clustered_by",
    "skip_optimize": f"builds run no OPTIMIZE; {_NOT_NEEDED}",
    "databricks_compute": "all models of a command run on the Spark of its --target; remove it",
    "include_full_name_in_path": "write the schema into location_root",
    "table_format": "tables are Delta; remove it",
    "catalog_name": "a lake has one catalog; remove it",
    "row_filter": "Spark has no row filters; give readers a view with the condition",
    "query_tags": "Spark has no query history; dbt's query-comment marks statements",
    "unique_tmp_table_suffix": f"the input of a build is a view of its session; {_NOT_NEEDED}",
    "use_safer_relation_operations": f"tables are replaced in one commit; {_NOT_NEEDED}",
    "incremental_apply_config_changes": "changed clustering, properties and tags are applied "
    "when they change; remove it",
    "view_update_via_alter": f"only a view whose text changes is replaced; {_NOT_NEEDED}",
    "persist_constraints": "use contract: {enforced: true}",
    "skip_non_matched_step": "dbt-databricks reads skip_not_matched_step",
    "schedule": "run `ingest serve`, which builds what has new input; remove it",
    **dict.fromkeys(
        [
            "access_control_list",
            "additional_libs",
            "cluster_id",
            "create_notebook",
            "environment_dependencies",
            "environment_key",
            "http_path",
            "index_url",
            "job_cluster_config",
            "notebook_access_control_list",
            "notebook_scoped_libraries",
            "python_job_config",
            "timeout",
            "user_folder_for_python",
        ],
        _NO_JOBS,
    ),
}
OF_COLUMNS: Mapping[str, str] = {
    "column_mask": "Spark has no column masks; select a masked value in a view for readers",
    "databricks_tags": "columns of Delta have no tags; use databricks_tags of the model, or meta",
}
MATERIALIZED = {
    "materialized_view": "Spark has none outside of Databricks; use incremental, which "
    "`ingest serve` keeps current",
    "streaming_table": "Spark has none outside of Databricks; declare a stream with `meta.ingest`, "
    "or use incremental",
    "metric_view": "Spark has none outside of Databricks; use view",
}
