{#-
    Query: the recorded events of the keys that have changes: those that made the versions of the
    table, and those of the state table that no version shows.
-#}
{% macro recorded_events(plan, changes) -%}
    {%- set changed_keys -%}
        left semi join {{ changes }} as changed_keys
            on {{ equal_columns(plan.key_columns, 'changed_keys', 'old') }}
    {%- endset -%}
    select
        {{ column_names(plan.key_columns, 'old') }},
        {%- for name in plan.others %}
            {%- if name in plan.sequence_by %}
        if(__is_end, {{ sequence_field(plan, 'old', name, plan.end_column) }},
            {{ sequence_field(plan, 'old', name, plan.start_column) }}) as `{{ name }}`,
            {%- else %}
        if(__is_end, null, old.`{{ name }}`) as `{{ name }}`,
            {%- endif %}
        {%- endfor %}
        if(
            __is_end,
            {{ change_position(plan, 'old', plan.delete_rank, '0L', plan.end_column) }},
            {{ change_position(
                plan, 'old', 1 - plan.delete_rank, change_content(plan, 'old'), plan.start_column
            ) }}
        ) as __position,
        __is_end as __deleted,
        cast(array() as array<string>) as __unset,
        'version' as __origin,
        if(__is_end, null, struct(
            old.`{{ plan.end_column }}` as ended,
            {{ comparable_columns(plan, plan.shown, 'old') }} as shown
        )) as __version
    from (
        select {{ broadcast_hint(plan, 'changed_keys') }}
            old.*,
            lead(old.`{{ plan.start_column }}`) over (
                partition by {{ column_names(plan.key_columns, 'old') }} order by old.`{{ plan.start_column }}`
            ) as __next_start
        from {{ plan.target }} as old
        {{ changed_keys }}
        where {{ changed_key_filter(plan) }}
    ) as old
    lateral view explode(
        if(`{{ plan.end_column }}` is null or `{{ plan.end_column }}` <=> __next_start,
            array(false), array(false, true))
    ) as __is_end
    {%- if plan.has_state %}
    union all
    select
        {{ column_names(plan.key_columns + plan.others, 'old') }},
        old.__position,
        old.__deleted,
        old.__unset,
        'state',
        null
    from {{ plan.state_table }} as old
    {{ changed_keys }}
    {%- endif %}
{%- endmacro %}
