{#-
    Query: the events of each key that has changes, in order, and the versions that they make.

    __opens       the event begins a version, or ends one
    __closes      it is the last event of its version, which shows its untracked columns
    __started     start of the event's version
    __ended       time of the next event: the end of the version if the event closes it
    __is_unshown  versions do not show the event, so the state table must keep it
-#}
{% macro timeline(plan, changes) -%}
    {%- set events = distinct_events(plan, changes) -%}
    {%- set in_order -%}
        over (partition by {{ column_names(plan.key_columns, 'event') }} order by event.__sequence)
    {%- endset -%}
    select
        *,
        case
            when __deleted then {{ 'true' if plan.source_position else 'coalesce(__after_delete, true)' }}
            else not __opens or size(__unset) > 0 {{ 'or not __closes' if plan.has_places }}
        end as __is_unshown
    from (
        select
            event.*,
            coalesce(lead(event.__opens) {{ in_order }}, true) as __closes,
            lead(event.__sequence) {{ in_order }} as __ended,
            max(if(event.__opens, event.__sequence, null)) {{ in_order }} as __started,
            last_value(if(event.__opens, struct(event.__version as version), null), true)
                {{ in_order }}.version as __shown
        from (
            select
                event.*,
                event.__deleted or coalesce(
                    event.__after_delete or not (event.__tracked <=> event.__tracked_before), true
                ) as __opens
            from (
                select
                    event.*,
                    lag(event.__deleted) {{ in_order }} as __after_delete,
                    lag(event.__tracked) {{ in_order }} as __tracked_before,
                    max(if(event.__is_known, event.__sequence, null)) over (
                        partition by {{ column_names(plan.key_columns, 'event') }}
                    ) as __known_until,
                    max(event.__newest_batch) over (
                        partition by {{ column_names(plan.key_columns, 'event') }}
                    ) as __batch
                from (
                    select
                        event.*,
                        {{ comparable_columns(plan, plan.tracked, 'event') }} as __tracked
                    from ({{ folded_events(plan, events) }}) as event
                ) as event
            ) as event
        ) as event
    ) as event
{%- endmacro %}
