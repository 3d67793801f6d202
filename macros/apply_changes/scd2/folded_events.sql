{#-
    Query: events with the row after each of them. A column that an event does not set has its last
    value since the last delete. The events themselves, if changes always set all columns.
-#}
{% macro folded_events(plan, events) -%}
    {%- if not plan.partial -%}
    {{ events }}
    {%- else -%}
    {%- set life -%}
        over (
            partition by {{ column_names(plan.key_columns, 'event') }}, event.__life
            order by event.__sequence
        )
    {%- endset -%}
    select
        event.* except ({{ column_names(plan.partial) }})
        {%- for name in plan.partial %},
        event.`{{ name }}` as `__own {{ name }}`,
        last_value(
            if(event.__deleted or not {{ is_set(plan, 'event', name) }}, null, struct(event.`{{ name }}` as value)),
            true
        ) {{ life }}.value as `{{ name }}`
        {%- endfor %}
    from (
        select
            event.*,
            count_if(event.__deleted) over (
                partition by {{ column_names(plan.key_columns, 'event') }} order by event.__sequence
            ) as __life
        from ({{ events }}) as event
    ) as event
    {%- endif -%}
{%- endmacro %}
