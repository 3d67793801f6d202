{#-
    Synchronize the catalog with the lake before dbt builds: bronze tables, ops tables, event types,
    and built tables that the catalog has lost.

    `ingest` writes by path and never opens the catalog, and the catalog may be deleted at any time:
    the lake's folders are the source of truth.
-#}
{% macro register_lake() -%}
    {%- if execute -%}
        {%- if not driver_facts() or not graph.get('headwater_ops_tables') -%}
            {%- do create_ops_tables() -%}
            {%- do graph.update({'headwater_ops_tables': true}) -%}
        {%- endif -%}
        {%- do build_memory() -%}
        {%- if not driver_facts().get('is_registered') -%}
            {%- do register_streams() -%}
            {%- do register_types() -%}
        {%- endif -%}
        {%- do register_built_tables() -%}
    {%- endif -%}
{%- endmacro %}
