{#-
    Strategy SCD 1 with partial updates: each column has the newest value that a change set.
    Renders one step (`apply_strategy`).

    The state table has each key's column states, from which the table's rows are made.
-#}
{% macro apply_scd1_partial(plan, step) -%}
    {%- set changes = plan.view ~ '__changes' -%}
    {%- set rows = plan.view ~ '__rows' -%}
    {%- if step == 'changes' -%}
    {{ column_states(plan, read_changes(plan, unset_columns(plan, 'input'))) }}
    {%- elif step == 'profile' -%}
    {#- Only keys are broadcast: about 50 bytes each. -#}
    count_if(__deleted_position is not null) as deletes, 50 * count(*) as bytes
    {%- elif step == 'effects' -%}
        {%- if not plan.target_columns -%}
    {{ count_row_effects(plan, first_effects(rows_of_states(plan, 'select * from ' ~ changes))) }}
        {%- else -%}
    create or replace temporary view {{ rows }} as
    {{ changed_rows(plan, changes) }}
    {{ next_statement() }}
    cache lazy table {{ rows }} options ('storageLevel' = 'DISK_ONLY')
    {{ next_statement() }}
    {{ count_row_effects(plan, effects_of_states(rows)) }}
        {%- endif -%}
    {%- elif step == 'needs_state' -%}
    yes
    {%- elif step == 'state_columns' -%}
    __positions map<string, {{ position_type(plan) }}>,
    __row_position {{ position_type(plan) }},
    __deleted_position {{ position_type(plan) }}
    {%- elif step == 'write_state' -%}
        {%- if not plan.has_state -%}
    {{ create_state_table(plan) }}
    {{ next_statement() }}
        {%- endif -%}
    {{ merge_states(plan, changes) }}
    {%- elif step == 'delete_truncated' -%}
    {{ delete_truncated_rows(plan, truncated_states(plan)) }}
    {%- elif step == 'merge' -%}
    {{ merge_rows(plan, 'select * from ' ~ rows ~ " where __effect <> 'none'") }}
    {%- elif step == 'first_rows' -%}
    {{ shown_rows(plan, rows_of_states(plan, 'select * from ' ~ changes)) }}
    {%- elif step == 'expired' -%}
    coalesce(__row_position < __deleted_position, __row_position is null)
    {%- elif step == 'drop_views' -%}
    drop view if exists {{ rows }}
    {%- endif -%}
{%- endmacro %}
