{#-
    Return `yes` if the changes need the state table, because the table cannot show all of them.
-#}
{% macro is_remembering(plan) -%}
    {%- if plan.scd_type == 2 -%}
        {{ 'yes' if plan.remembered }}
    {%- else -%}
        {{ 'yes' if plan.partial or plan.is_hidden or plan.truncates
            or (plan.deletes and not plan.keep_deleted) }}
    {%- endif -%}
{%- endmacro %}
