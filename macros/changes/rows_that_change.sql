{#-
    The rows of the table, or of the memory, that have a change.

    Picked while it is read: an outer join of the changes with it would sort all of it. Only keys
    of the changes are held in memory.
-#}
{% macro rows_that_change(plan, newest, relation=none) -%}
    select {{ broadcast_hint(plan) }} old.*
    from {{ relation or plan.target }} as old
    left semi join {{ newest }} as new
        on {{ equal_columns(plan.key_columns, 'new', 'old') }} and {{ may_have_changes(plan) }}
{%- endmacro %}
