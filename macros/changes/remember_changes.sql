{#-
    Statements that write the state table, before the table is written; empty if there is no state
    to write. If the table is recreated, its old state is deleted.
-#}
{% macro remember_changes(plan) -%}
    {%- set changes = plan.view ~ '__changes' -%}
    {%- set is_of_states = plan.scd_type == 1 and plan.partial -%}
    {%- if plan.is_remembering and not plan.has_memory and not is_of_states -%}
    {{ create_memory(plan, events_to_remember(plan, plan.view ~ '__timeline') if plan.scd_type == 2
        else deletes_to_remember(plan, changes)) }}
    {%- elif plan.is_remembering -%}
        {%- if not plan.has_memory -%}
    {{ create_memory(plan) }}
    {{ next_statement() }}
        {%- endif -%}
        {%- if plan.scd_type == 2 -%}
    {{ merge_events(plan, events_to_remember(plan, plan.view ~ '__timeline')) }}
        {%- elif plan.partial -%}
    {{ merge_states(plan, changes) }}
        {%- else -%}
    {{ merge_deletes(plan, changes) }}
        {%- endif -%}
    {%- elif plan.is_memory_stale -%}
    {{ create_memory(plan) }}
    {%- endif -%}
{%- endmacro %}
