{#-
    Statements that write the state table, before the table is written; empty if there is no state
    to write. If the table is recreated, its old state is deleted.
-#}
{% macro write_state(plan) -%}
    {%- if plan.needs_state -%}
    {{ apply_strategy(plan, 'write_state') }}
    {%- elif plan.is_state_stale -%}
    {{ create_state_table(plan) }}
    {%- endif -%}
{%- endmacro %}
