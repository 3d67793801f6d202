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
    {%- if plan.has_state and plan.needs_state and plan.is_expiry_due
        and plan.tombstone_retention %}
    {{ next_statement() }}
    {{ expire_tombstones(plan) }}
    {%- endif -%}
{%- endmacro %}
