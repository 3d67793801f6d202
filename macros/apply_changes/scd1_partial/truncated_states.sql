{#-
    Source and condition of a merge that finds the rows `old` of the table that are older than the
    newest truncate event.
-#}
{% macro truncated_states(plan) -%}
    (
        select {{ column_names(plan.key_columns) }}
        from {{ plan.state_table }}
        where __row_position < ({{ truncate_position(plan, '__deleted_position') }})
    ) as new
    on {{ equal_columns(plan.key_columns, 'new', 'old') }}
{%- endmacro %}
