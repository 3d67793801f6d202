{#-
    Statements that count the effects of the changes before anything is written; the last one
    returns one row of counts. If it finds `level` changes, which differ from the table's rows in
    content at most, the caller runs them a second time.
-#}
{% macro weigh_changes(plan) -%}
    {%- if is_marked(plan) | trim and not plan.level -%}
    {{ mark_keys(plan) }}
    {{ next_statement() }}
    {%- endif -%}
    {{ apply_strategy(plan, 'effects') }}
{%- endmacro %}
