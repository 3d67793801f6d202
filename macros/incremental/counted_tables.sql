{#-
    Return the tables that a view reads, directly or through views, and whose rows are numbered by
    batch or build: those of streams, and models that are built in increments. Empty for a table.
-#}
{% macro counted_tables(relation) -%}
    {%- set tables = [] -%}
    {%- for node in graph.nodes.values()
        if node.resource_type == 'model' and node.schema == relation.schema
        and node.alias == relation.identifier and node.config.materialized in ('view', 'ephemeral') -%}
        {%- do collect_counted(node, tables) -%}
    {%- endfor -%}
    {{- return(tables | unique | list) -}}
{%- endmacro %}
