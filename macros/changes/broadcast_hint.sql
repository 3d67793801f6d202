{#-
    A hint to read the table beside the changes, held in memory where they are small enough for
    that; `changes` is their name in the query.

    Spark compares sizes that it guesses of files, and where a table compresses well it holds
    the table's rows in memory instead, beside the changes. Of changes that leave columns alone
    only keys are held.
-#}
{% macro broadcast_hint(plan, changes='new') -%}
    {%- set are_few = plan.changes <= 1000000 if plan.scd_type == 1 and plan.partial
        else plan.bytes <= 50000000 -%}
    {%- if plan.target_columns and are_few -%} /*+ broadcast({{ changes }}) */ {%- endif -%}
{%- endmacro %}
