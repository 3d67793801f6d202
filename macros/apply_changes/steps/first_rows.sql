{#-
    Query: all rows of a table that this build creates.
-#}
{% macro first_rows(plan) -%}
    {{ apply_strategy(plan, 'first_rows') }}
{%- endmacro %}
