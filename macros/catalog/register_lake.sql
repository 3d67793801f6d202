{#-
    What the catalog must know before dbt starts: bronze, ops, types of events, and tables it has
    forgotten.

    `ingest` writes by path and never opens the catalog, and the catalog may be thrown away
    at any time: the folders of the lake are the truth.
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
