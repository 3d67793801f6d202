{#-
    Statements that count the effects of the changes before anything is written; the last one
    returns one row of counts. If it finds `level` changes, which differ from the table's rows in
    content at most, the caller runs them a second time.
-#}
{% macro count_effects(plan) -%}
    {%- if uses_key_bitmap(plan) | trim and not plan.level -%}
    {{ set_key_bitmap(plan) }}
    {{ next_statement() }}
    {%- endif -%}
    {{ apply_strategy(plan, 'effects') }}
{%- endmacro %}
