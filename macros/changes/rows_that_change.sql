{#-
    The rows of the table that have a change.

    Picked while the table is read: an outer join of the changes with it would sort all of it.
-#}
{% macro rows_that_change(plan, newest) -%}
    select {{ broadcast_hint(plan) }} old.*
    from {{ plan.target }} as old
    left semi join {{ newest }} as new
        on {{ equal_columns(plan.key_columns, 'new', 'old') }} and {{ may_have_changes(plan) }}
{%- endmacro %}
