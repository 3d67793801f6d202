{#-
    Spark hint that broadcasts the changes in a join with the table, if they are small enough;
    `changes` is their alias in the query.

    Without it, Spark compares sizes that it estimates from files, and broadcasts the rows of a
    table that compresses well instead of the changes.
-#}
{% macro broadcast_hint(plan, changes='new') -%}
    {%- if plan.target_columns and plan.bytes <= 50000000 -%} /*+ broadcast({{ changes }}) */ {%- endif -%}
{%- endmacro %}
