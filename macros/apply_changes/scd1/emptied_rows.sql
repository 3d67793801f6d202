{#-
    Source and condition of a merge that finds the rows `old` of the table that are older than the
    newest truncate event.
-#}
{% macro emptied_rows(plan) -%}
    {%- if plan.is_hidden -%}
    (
        select {{ column_names(plan.key_columns) }}
        from {{ plan.memory }}
        where __position < ({{ truncation(plan, '__position') }})
    ) as new
    on {{ equal_columns(plan.key_columns, 'new', 'old') }}
    {%- else -%}
    ({{ truncation(plan, '__position') }}) as new
    on {{ table_position(plan, 'old') }} < new.__emptied
    {%- endif -%}
{%- endmacro %}
