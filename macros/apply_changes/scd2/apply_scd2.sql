{#-
    Strategy SCD 2: the table has every version of a row, made from the ordered events of its key.
    Renders one step (`apply_strategy`).

    The state table has the events that no version shows, such as deletes and changes of untracked
    columns.
-#}
{% macro apply_scd2(plan, step) -%}
    {%- set timeline_view = plan.view ~ '__timeline' -%}
    {%- if step == 'changes' -%}
    {{ read_changes(plan, unset_columns(plan, 'input')) }}
    {%- elif step == 'profile' -%}
    0 as deletes, {{ changes_size(plan) }} as bytes
    {%- elif step == 'effects' -%}
    create or replace temporary view {{ timeline_view }} as
    {{ timeline(plan, plan.view ~ '__changes') }}
    {{ next_statement() }}
    cache lazy table {{ timeline_view }} options ('storageLevel' = 'DISK_ONLY')
    {{ next_statement() }}
    {{ count_version_effects(plan, timeline_view) }}
    {%- elif step == 'needs_state' -%}
    {{ 'yes' if plan.unshown }}
    {%- elif step == 'state_columns' -%}
    __position {{ position_type(plan) }}, __deleted boolean, __unset array<string>
    {%- elif step == 'write_state' -%}
    {{ merge_events(plan, state_events(plan, timeline_view)) if plan.has_state
        else create_state_table(plan, state_events(plan, timeline_view)) }}
    {%- elif step == 'merge' -%}
    {{ merge_versions(plan, changed_versions(plan, timeline_view)) }}
    {%- elif step == 'first_rows' -%}
    select {{ column_names(plan.key_columns + plan.others + [plan.start_column, plan.end_column]) }}
    from ({{ changed_versions(plan, timeline_view) }})
    {%- elif step == 'expired' -%}
    true
    {%- elif step == 'drop_views' -%}
    drop view if exists {{ timeline_view }}
    {%- endif -%}
{%- endmacro %}
