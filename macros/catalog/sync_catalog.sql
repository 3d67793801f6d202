{#-
    Synchronize the catalog with the lake before dbt builds: bronze tables, ops tables, event types,
    and built tables that the catalog has lost.

    `ingest` writes by path and never opens the catalog, and the catalog may be deleted at any time:
    the lake's folders are the source of truth.
-#}
{% macro sync_catalog() -%}
    {%- if execute -%}
        {%- if not driver_state() or not graph.get('headwater_ops_tables') -%}
            {%- do create_ops_tables() -%}
            {%- do graph.update({'headwater_ops_tables': true}) -%}
        {%- endif -%}
        {%- do invocation_cache() -%}
        {%- if not driver_state().get('is_registered') -%}
            {%- do register_streams() -%}
            {%- do sync_types() -%}
        {%- endif -%}
        {%- do register_built_tables() -%}
    {%- endif -%}
{%- endmacro %}
