{#-
    Query: the new rows of the keys that have changes, made from column states, joined with the rows
    of the table. `__effect` is upsert, delete or none.
-#}
{% macro changed_rows(plan, states) -%}
    {%- set is_there = 'old.`' ~ plan.key_columns[0] ~ '` is not null' -%}
    {%- set is_same = comparable_columns(plan, plan.shown, 'new') ~ ' <=> '
        ~ comparable_columns(plan, plan.shown, 'old') -%}
    select /*+ merge(old) */
        new.*,
        {{ is_there }} as __is_there,
        case
            {%- if plan.keep_deleted %}
            when {{ is_there }} and {{ is_same }} and old.is_deleted = new.__deleted then 'none'
            {%- else %}
            when new.__deleted and not {{ is_there }} then 'none'
            when not new.__deleted and {{ is_there }} and {{ is_same }} then 'none'
            {%- endif %}
            when new.__deleted then 'delete'
            else 'upsert'
        end as __effect
    from ({{ rows_of_states(plan, merged_states(plan, states)) }}) as new
    left join ({{ rows_that_change(plan, states) }}) as old
        on {{ equal_columns(plan.key_columns, 'new', 'old') }}
{%- endmacro %}
