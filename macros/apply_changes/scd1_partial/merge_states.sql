{#-
    Statement that merges column states into the state table, from which the table's rows are
    derived.
-#}
{% macro merge_states(plan, states) -%}
    {%- set kept = plan.others + ['__positions', '__row_position', '__deleted_position'] -%}
    merge into {{ plan.state_table }} as old
    using (
        select {{ column_names(plan.key_columns + kept) }}
        from {{ plan.view ~ '__rows' if plan.target_columns
            else '(' ~ merged_states(plan, states) ~ ')' }}
        where __is_news
        {%- if plan.truncates %}
        union all
        select
            {%- for name in plan.key_columns + plan.others %}
            cast(null as {{ plan.columns[name] }}),
            {%- endfor %}
            null,
            null,
            ({{ truncate_position(plan, '__deleted_position') }})
        {%- endif %}
    ) as new
    on {{ equal_columns(plan.key_columns, 'new', 'old', '<=>') }}
    when matched then update set
        {%- for name in kept %}
        `{{ name }}` = new.`{{ name }}`,
        {%- endfor %}
        __remembered_at = current_timestamp()
    when not matched then insert ({{ column_names(plan.key_columns + kept) }}, __remembered_at)
    values ({{ column_names(plan.key_columns + kept, 'new') }}, current_timestamp())
{%- endmacro %}
