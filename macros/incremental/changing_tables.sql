{#-
    Return the tables upstream of `relation` whose rows may change (`rows_may_change`), for the
    model that reads it directly or through views: the relation itself or, for a view, the tables
    that the view reads.
-#}
{% macro changing_tables(relation) -%}
    {%- set tables = [] -%}
    {%- do find_changing(model, relation, tables) -%}
    {{- return(tables) -}}
{%- endmacro %}
