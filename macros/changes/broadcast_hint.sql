{#-
    Spark hint that broadcasts the changes in a join with the table, if they are small enough;
    `changes` is their alias in the query.

    Without it, Spark compares sizes that it estimates from files, and broadcasts the rows of a
    table that compresses well instead of the changes. Of partial updates only keys are broadcast.
-#}
{% macro broadcast_hint(plan, changes='new') -%}
    {%- set are_few = plan.changes <= 1000000 if plan.scd_type == 1 and plan.partial
        else plan.bytes <= 50000000 -%}
    {%- if plan.target_columns and are_few -%} /*+ broadcast({{ changes }}) */ {%- endif -%}
{%- endmacro %}
