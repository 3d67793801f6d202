{#-
    SQL condition that a change sets a column.
-#}
{% macro is_set(plan, relation, name) -%}
    {%- if name in plan.partial -%}
        not array_contains({{ relation }}.__unset, {{ sql_text(name) }})
    {%- else -%}
        true
    {%- endif -%}
{%- endmacro %}
