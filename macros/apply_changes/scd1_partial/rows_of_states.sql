{#-
    Query: the rows that column states make, with `__deleted` if the newest change is a delete.

    A column whose value was set before the newest delete is null.
-#}
{% macro rows_of_states(plan, states) -%}
    select
        state.* except ({{ column_names(plan.others) }}),
        {%- for name in plan.others %}
            {%- if name in plan.partial %}
        if(state.__is_deleted or state.__gone is null
            or state.__positions[{{ sql_text(name) }}] > state.__gone, state.`{{ name }}`, null)
            {%- elif name in plan.sequence_by %}
        greatest(state.__row_position, state.__gone).s{{ plan.sequence_by.index(name) + 1 }}
            {%- elif name in plan.source_position %}
        greatest(state.__row_position, state.__gone).p{{ plan.source_position.index(name) + 1 }}
            {%- else %}
        state.`{{ name }}`
            {%- endif %} as `{{ name }}`,
        {%- endfor %}
        state.__is_deleted as __deleted
    from (
        select
            *,
            __row_position is null or coalesce(__row_position < __gone, false) as __is_deleted
        from (
            select
                *,
                {{ 'greatest(__deleted_position, (' ~ truncate_position(plan, '__deleted_position') ~ '))'
                    if plan.apply_as_truncates else '__deleted_position' }} as __gone
            from ({{ states }})
        )
    ) as state
{%- endmacro %}
