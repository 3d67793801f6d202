{#-
    The statements that write the memory, before the table; none where there is nothing to
    remember. A table that is made anew forgets what was remembered for the old one.
-#}
{% macro remember_changes(plan) -%}
    {%- if plan.is_remembering -%}
        {%- if not plan.has_memory -%}
    {{ create_memory(plan) }}
    {{ next_statement() }}
        {%- endif -%}
        {%- if plan.scd_type == 2 -%}
    {{ merge_events(plan, events_to_remember(plan, plan.view ~ '__timeline')) }}
        {%- elif plan.partial -%}
    {{ merge_states(plan, plan.view ~ '__changes') }}
        {%- else -%}
    {{ merge_deletes(plan, plan.view ~ '__changes') }}
        {%- endif -%}
    {%- elif plan.is_memory_stale -%}
    {{ create_memory(plan) }}
    {%- endif -%}
{%- endmacro %}
