{#-
    Return `yes` if the changes get a key bitmap. For few changes, or a table of less than a
    megabyte, the bitmap costs more than it saves; for very many changes it filters out no row.

    A larger table never counts as small: its files may have a hundredth of the size of its rows in
    memory.
-#}
{% macro uses_key_bitmap(plan) -%}
    {%- set changes = plan.changes | default(0) -%}
    {%- set is_small = plan.target_bytes is not none and plan.target_bytes < 1048576 -%}
    {{ 'yes' if plan.target_columns and plan.bounded and not is_small and 10000 <= changes <= 1000000 }}
{%- endmacro %}
