{#-
    Query: one event per key and sequence, the winner of its ties.

    If the state table has an event of that sequence, it is preferred to the version: the version
    shows later values of untracked columns, and values that the event left unchanged.
-#}
{% macro distinct_events(plan, changes) -%}
    {%- set event -%}
        struct({{ column_names(plan.others, 'event') }}{{ ', ' if plan.others -}}
            event.__position, event.__deleted, event.__unset)
    {%- endset -%}
    select
        {{ column_names(plan.key_columns, 'chosen') }},
        chosen.__event.*,
        {{ sequence_of(plan, 'chosen.__event.__position') }} as __sequence,
        chosen.__version,
        chosen.__state_position,
        chosen.__is_known,
        chosen.__new,
        chosen.__tied,
        chosen.__newest_batch
    from (
        select
            {{ column_names(plan.key_columns, 'event') }},
            {%- if plan.target_columns %}
            coalesce(
                if(max(event.__origin = 'state'), max_by({{ event }}, event.__position)
                    filter (where event.__origin <> 'version'), null),
                max_by({{ event }}, event.__position)
            ) as __event,
            {%- else %}
            max_by({{ event }}, event.__position) as __event,
            {%- endif %}
            any_value(event.__version, true) as __version,
            max(event.__position) filter (where event.__origin = 'state') as __state_position,
            max(event.__origin <> 'new') as __is_known,
            count_if(event.__origin = 'new') as __new,
            if(count_if(event.__origin = 'new') = 0, 0, if(
                max(event.__origin = 'state'),
                size(collect_set(event.__position) filter (where event.__origin <> 'version')),
                size(collect_set(event.__position))
            ) - 1) as __tied,
            {{ 'max(event._batch_id) filter (where event.__origin = \'new\')'
                if '_batch_id' in plan.columns else 'null' }} as __newest_batch
        from (
            select *, 'new' as __origin, null as __version from {{ changes }}
            {%- if plan.target_columns %}
            union all
            {{ recorded_events(plan, changes) }}
            {%- endif %}
        ) as event
        group by {{ column_names(plan.key_columns, 'event') }}
            {%- for _ in plan.sequence_by -%} , event.__position.s{{ loop.index }} {%- endfor %}
    ) as chosen
{%- endmacro %}
