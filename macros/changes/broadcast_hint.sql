{#-
    A hint to read the table beside the changes, held in memory where they are small enough for
    that; `changes` is their name in the query.

    Spark compares sizes that it guesses of files, and where a table compresses well it holds
    the table's rows in memory instead, beside the changes.
-#}
{% macro broadcast_hint(plan, changes='new') -%}
    {%- if plan.target_columns and plan.bytes <= 50000000 -%} /*+ broadcast({{ changes }}) */ {%- endif -%}
{%- endmacro %}
