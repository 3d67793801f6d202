{#-
    What tells, beside a row `old` of the table, that it is older than the change that emptied
    the table: a relation, and the condition under which the row goes.
-#}
{% macro emptied_rows(plan) -%}
    {%- if plan.is_hidden or plan.partial -%}
    (
        select {{ column_names(plan.key_columns) }}
        from {{ plan.memory }}
        where {{ '__row_position' if plan.partial else '__position' }} < ({{ truncation(plan) }})
    ) as new
    on {{ equal_columns(plan.key_columns, 'new', 'old') }}
    {%- else -%}
    ({{ truncation(plan) }}) as new
    on {{ table_position(plan, 'old') }} < new.__emptied
    {%- endif -%}
{%- endmacro %}
