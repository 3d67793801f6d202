{#-
    Query: the rows of the table, or of the state table, whose keys have changes.

    A semi join that filters while it reads: an outer join with the changes would sort the whole
    table. Only keys of the changes are broadcast.
-#}
{% macro rows_that_change(plan, newest, relation=none) -%}
    select {{ broadcast_hint(plan) }} old.*
    from {{ relation or plan.target }} as old
    left semi join {{ newest }} as new
        on {{ equal_columns(plan.key_columns, 'new', 'old') }} and {{ changed_key_filter(plan) }}
{%- endmacro %}
