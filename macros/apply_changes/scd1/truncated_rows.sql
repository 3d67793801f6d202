{#-
    Source and condition of a merge that finds the rows `old` of the table that are older than the
    newest truncate event.
-#}
{% macro truncated_rows(plan) -%}
    {%- if plan.is_hidden -%}
    (
        select {{ column_names(plan.key_columns) }}
        from {{ plan.state_table }}
        where __position < ({{ truncate_position(plan, '__position') }})
    ) as new
    on {{ equal_columns(plan.key_columns, 'new', 'old') }}
    {%- else -%}
    ({{ truncate_position(plan, '__position') }}) as new
    on {{ table_position(plan, 'old') }} < new.__truncate_position
    {%- endif -%}
{%- endmacro %}
