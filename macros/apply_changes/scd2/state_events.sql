{#-
    Query: events of a timeline that the state table lacks, or has with another winner of a tie.
-#}
{% macro state_events(plan, timeline) -%}
    select
        {{ column_names(plan.key_columns, 'event') }},
        {%- for name in plan.others %}
        event.`{{ '__own ' if name in plan.partial }}{{ name }}` as `{{ name }}`,
        {%- endfor %}
        event.__position,
        event.__deleted,
        event.__unset
    from {{ timeline }} as event
    where if(event.__state_position is null, event.__is_unshown, event.__state_position <> event.__position)
{%- endmacro %}
