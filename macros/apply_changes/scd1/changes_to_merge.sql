{#-
    Query: the newest change of each key, without those for which the state table has a newer one.

    If effects were counted and no change was late, the join with the state table is left out.
-#}
{% macro changes_to_merge(plan, newest) -%}
    {%- set leaves_out = not plan.target_columns or plan.late -%}
    select {{ broadcast_hint(plan) }} new.*
    from {{ newest }} as new
    {%- if plan.has_state and leaves_out %}
    left join {{ plan.state_table }} as state
        on {{ equal_columns(plan.key_columns, 'new', 'state') }}
    {%- endif %}
    where true
        {%- if plan.has_state and leaves_out %}
        and (state.__position is null or new.__position >= state.__position)
        {%- endif %}
        {%- if plan.apply_as_truncates and leaves_out %}
        and new.__position >= coalesce(({{ truncate_position(plan, '__position') }}), new.__position)
        {%- endif %}
{%- endmacro %}
