{#-
    Query of one value: the position of the newest truncate event.

    The state table keeps it in a row without keys, in the column `position`; `plan.truncates` is
    the number of truncate events in the input.
-#}
{% macro truncate_position(plan, position) -%}
    select max(__truncate_position) as __truncate_position
    from (
        select cast(null as {{ position_type(plan) }}) as __truncate_position
        {%- if plan.has_state %}
        union all
        select {{ position }}
        from {{ plan.state_table }}
        where isnull(`{{ plan.key_columns | join('`) and isnull(`') }}`)
        {%- endif %}
        {%- if plan.truncates %}
        union all
        {{ truncate_events(plan) }}
        {%- endif %}
    )
{%- endmacro %}
