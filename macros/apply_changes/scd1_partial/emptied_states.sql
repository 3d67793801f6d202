{#-
    Source and condition of a merge that finds the rows `old` of the table that are older than the
    newest truncate event.
-#}
{% macro emptied_states(plan) -%}
    (
        select {{ column_names(plan.key_columns) }}
        from {{ plan.memory }}
        where __row_position < ({{ truncation(plan, '__deleted_position') }})
    ) as new
    on {{ equal_columns(plan.key_columns, 'new', 'old') }}
{%- endmacro %}
