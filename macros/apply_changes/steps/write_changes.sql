{#-
    Statements that apply the changes to the table, and expire tombstones when that is due; empty if
    nothing changes.
-#}
{% macro write_changes(plan) -%}
    {%- if plan.truncates -%}
    {{ apply_strategy(plan, 'delete_truncated') }}
    {{ next_statement() }}
    {%- endif -%}
    {%- if plan.upserted or plan.deleted or plan.closed or plan.truncates -%}
    {{ apply_strategy(plan, 'merge') }}
    {%- endif -%}
    {%- if plan.has_memory and plan.is_remembering and plan.is_forgetting
        and plan.tombstone_retention %}
    {{ next_statement() }}
    {{ forget_changes(plan) }}
    {%- endif -%}
{%- endmacro %}
