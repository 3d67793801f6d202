{#-
    The tables below a relation that the model reads, maybe through views, whose rows may change
    (`rows_may_change`): the relation itself, or what it reads where it is a view.
-#}
{% macro changing_tables(relation) -%}
    {%- set tables = [] -%}
    {%- do find_changing(model, relation, tables) -%}
    {{- return(tables) -}}
{%- endmacro %}
