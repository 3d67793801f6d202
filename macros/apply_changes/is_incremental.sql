{#-
    dbt's `is_incremental`, which also accepts the materialization `apply_changes`: whether a build
    adds to an existing table.
-#}
{% macro is_incremental() -%}
    {%- if not execute -%}
        {{- return(false) -}}
    {%- endif -%}
    {%- set existing = load_cached_relation(this) -%}
    {{- return(
        existing is not none and existing.type == 'table'
        and model.config.materialized in ('incremental', 'apply_changes')
        and not should_full_refresh()
    ) -}}
{%- endmacro %}
