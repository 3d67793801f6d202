{#-
    The tables below a relation that the model reads whose rows may change (`rows_may_change`):
    the relation itself, or what it reads where it is a view.
-#}
{% macro changing_tables(relation) -%}
    {%- set tables = [] -%}
    {%- for parent_id in model.depends_on.nodes -%}
        {%- set parent = graph.sources.get(parent_id) or graph.nodes.get(parent_id) -%}
        {%- if parent and parent.schema == relation.schema
            and (parent.identifier or parent.alias) == relation.identifier -%}
            {%- do collect_changing(parent, true, tables) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(tables) -}}
{%- endmacro %}
