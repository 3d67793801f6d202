{#-
    Strategy SCD 1 with whole rows: the newest change of a key replaces its row. Renders one step
    (`apply_strategy`).

    The state table has tombstones and, if the table lacks the columns that order changes, the
    position of each row.
-#}
{% macro apply_scd1(plan, step) -%}
    {%- set changes = plan.view ~ '__changes' -%}
    {%- if step == 'changes' -%}
    {{ newest_changes(plan, read_changes(plan)) }}
    {%- elif step == 'profile' -%}
    count_if(__deleted) as deletes, {{ changes_size(plan) }} as bytes
    {%- elif step == 'effects' -%}
    {{ count_row_effects(plan, first_effects(changes_to_merge(plan, changes))
        if not plan.target_columns else effects_on_rows(plan, changes)) }}
    {%- elif step == 'needs_state' -%}
    {{ 'yes' if plan.is_hidden or plan.truncates or (plan.deletes and not plan.keep_deleted) }}
    {%- elif step == 'state_columns' -%}
    __position {{ position_type(plan) }}, __deleted boolean
    {%- elif step == 'write_state' -%}
    {{ merge_tombstones(plan, changes) if plan.has_state
        else create_state_table(plan, tombstones(plan, changes)) }}
    {%- elif step == 'delete_truncated' -%}
    {{ delete_truncated_rows(plan, truncated_rows(plan)) }}
    {%- elif step == 'merge' -%}
    {{ merge_rows(
        plan, changes_to_merge(plan, changes), update_if=is_newer(plan),
        delete_if='' if plan.is_hidden else is_newer(plan)
    ) }}
    {%- elif step == 'first_rows' -%}
    {{ shown_rows(plan, changes_to_merge(plan, changes)) }}
    {%- elif step == 'expired' -%}
    __deleted
    {%- endif -%}
{%- endmacro %}
