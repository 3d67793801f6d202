{#-
    Let go of what was kept for this build.
-#}
{% macro release_changes(plan) -%}
    {%- if plan.scd_type == 2 -%}
    drop view if exists {{ plan.view }}__timeline
    {{ next_statement() }}
    {%- endif -%}
    drop view if exists {{ plan.view }}__changes
{%- endmacro %}
