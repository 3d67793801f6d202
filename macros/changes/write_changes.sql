{#-
    Statements that apply the changes to the table, and expire tombstones when that is due; empty if
    nothing changes.
-#}
{% macro write_changes(plan) -%}
    {%- if plan.truncates -%}
    {{ empty_rows(plan) }}
    {{ next_statement() }}
    {%- endif -%}
    {%- if plan.upserted or plan.deleted or plan.closed or plan.truncates -%}
        {%- if plan.scd_type == 2 -%}
    {{ merge_versions(plan, changed_versions(plan, plan.view ~ '__timeline')) }}
        {%- elif plan.partial -%}
    {{ merge_rows(plan, 'select * from ' ~ plan.view ~ "__rows where __effect <> 'none'", true) }}
        {%- else -%}
    {{ merge_rows(plan, changes_to_merge(plan, plan.view ~ '__changes')) }}
        {%- endif -%}
    {%- endif -%}
    {%- if plan.has_memory and plan.is_remembering and plan.is_forgetting
        and plan.tombstone_retention %}
    {{ next_statement() }}
    {{ forget_changes(plan) }}
    {%- endif -%}
{%- endmacro %}
