{#-
    `yes` where the keys that have changes are marked: for few changes that costs more than it
    spares, and of very many the marks leave no row out.
-#}
{% macro is_marked(plan) -%}
    {{ 'yes' if plan.target_columns and plan.bounded and 10000 <= plan.changes <= 1000000 }}
{%- endmacro %}
