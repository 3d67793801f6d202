{#-
    Query: events of a timeline that the state table lacks, or has with another winner of a tie.
-#}
{% macro events_to_remember(plan, timeline) -%}
    select
        {{ column_names(plan.key_columns, 'event') }},
        {%- for name in plan.others %}
        event.`{{ '__own ' if name in plan.partial }}{{ name }}` as `{{ name }}`,
        {%- endfor %}
        event.__position,
        event.__deleted,
        event.__unset
    from {{ timeline }} as event
    where if(event.__remembered is null, event.__recalled, event.__remembered <> event.__position)
{%- endmacro %}
