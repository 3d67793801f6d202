{#-
    `yes` where the keys that have changes are marked: for few changes, and in a table of less than
    a megabyte, that costs more than it spares, and of very many the marks leave no row out.

    No larger table is small: files may have a hundredth of what their rows are in memory.
-#}
{% macro is_marked(plan) -%}
    {%- set changes = plan.changes | default(0) -%}
    {%- set is_small = plan.target_bytes is not none and plan.target_bytes < 1048576 -%}
    {{ 'yes' if plan.target_columns and plan.bounded and not is_small and 10000 <= changes <= 1000000 }}
{%- endmacro %}
