{#-
    Return `yes` if the changes need the state table, because the table cannot show all of them.
-#}
{% macro needs_state(plan) -%}
    {{ apply_strategy(plan, 'needs_state') }}
{%- endmacro %}
