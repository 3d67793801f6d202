{#-
    Statements that count the effects of the changes before anything is written; the last one
    returns one row of counts. If it finds `level` changes, which differ from the table's rows in
    content at most, the caller runs them a second time.
-#}
{% macro weigh_changes(plan) -%}
    {%- if is_marked(plan) | trim and not plan.level -%}
    {{ mark_keys(plan) }}
    {{ next_statement() }}
    {%- endif -%}
    {%- if plan.scd_type == 2 -%}
    create or replace temporary view {{ plan.view }}__timeline as
    {{ timeline(plan, plan.view ~ '__changes') }}
    {{ next_statement() }}
    cache lazy table {{ plan.view }}__timeline options ('storageLevel' = 'DISK_ONLY')
    {{ next_statement() }}
    select
        versions.*,
        coalesce(events.late, 0) as late,
        coalesce(events.tied, 0) as tied,
        coalesce(events.remembered, 0) as remembered,
        0 as inserted,
        0 as level
    from (
        select
            count_if(__effect in ('insert', 'update')) as upserted,
            count_if(__effect = 'delete') as deleted,
            count_if(__effect = 'close') as closed
        from ({{ changed_versions(plan, plan.view ~ '__timeline') }})
    ) as versions
    cross join (
        select
            sum(if(not __is_known and __sequence < __known_until, __new, 0)) as late,
            sum(__tied) as tied,
            count_if(if(__remembered is null, __recalled, __remembered <> __position)) as remembered
        from {{ plan.view }}__timeline
    ) as events
    {%- else -%}
    {%- if plan.target_columns and plan.partial -%}
    create or replace temporary view {{ plan.view }}__rows as
    {{ changed_rows(plan, plan.view ~ '__changes') }}
    {{ next_statement() }}
    cache lazy table {{ plan.view }}__rows options ('storageLevel' = 'DISK_ONLY')
    {{ next_statement() }}
    {%- endif %}
    select
        count_if(__effect = 'upsert') as upserted,
        count_if(__effect = 'delete') as deleted,
        0 as closed,
        count_if(__effect = 'late') as late,
        coalesce(sum(__tied), 0) as tied,
        0 as remembered,
        count_if(__effect in ('upsert', 'delete') and not __is_there) as inserted,
        {{ plan.level or 'count_if(__is_level)' }} as level
    from (
        {%- if not plan.target_columns %}
        select
            if(not __deleted, 'upsert', 'none') as __effect,
            __tied,
            false as __is_there,
            false as __is_level
        from ({{ rows_of_states(plan, 'select * from ' ~ plan.view ~ '__changes') if plan.partial
            else changes_to_merge(plan, plan.view ~ '__changes') }})
        {%- elif plan.partial %}
        select
            if(__is_late and __effect = 'none', 'late', __effect) as __effect,
            __tied,
            __is_there,
            false as __is_level
        from {{ plan.view }}__rows
        {%- else %}
        {{ effects_on_rows(plan, plan.view ~ '__changes') }}
        {%- endif %}
    )
    {%- endif -%}
{%- endmacro %}
