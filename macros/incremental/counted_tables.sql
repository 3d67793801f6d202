{#-
    Return the tables that a view reads, directly or through views, and whose rows are numbered by
    batch or build: those of streams, and models that are built in increments. Empty for a table.
-#}
{% macro counted_tables(relation) -%}
    {%- set tables = [] -%}
    {%- for node in graph.nodes.values()
        if node.resource_type == 'model' and node.config.materialized in ('view', 'ephemeral') -%}
        {%- if place_of(node) | string == relation | string -%}
            {%- do collect_counted(node, tables) -%}
        {%- elif place_of(node, true) | string == relation | string -%}
            {%- do collect_counted(node, tables, true) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(tables | unique | list) -}}
{%- endmacro %}
