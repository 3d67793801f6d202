{#-
    Statements that write the state table, before the table is written; empty if there is no state
    to write. If the table is recreated, its old state is deleted.
-#}
{% macro remember_changes(plan) -%}
    {%- if plan.is_remembering -%}
    {{ apply_strategy(plan, 'write_state') }}
    {%- elif plan.is_memory_stale -%}
    {{ create_memory(plan) }}
    {%- endif -%}
{%- endmacro %}
