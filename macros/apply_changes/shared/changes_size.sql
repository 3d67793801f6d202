{#-
    SQL expression for the approximate size of the changes in memory, in bytes.
-#}
{% macro changes_size(plan) -%}
    coalesce(sum(
        {{ 16 * plan.columns | length }}
        {%- for name, type in plan.columns.items() %}
            {%- if type in ('string', 'binary') %} + coalesce(octet_length(`{{ name }}`), 0)
            {%- elif '<' in type or type == 'variant' %} + coalesce(length(to_json(struct(`{{ name }}`))), 0)
            {%- endif %}
        {%- endfor %}
    ), 0)
{%- endmacro %}
