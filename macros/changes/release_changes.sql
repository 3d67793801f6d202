{#-
    Let go of what was kept for this build.
-#}
{% macro release_changes(plan) -%}
    {%- if plan.snapshot_by -%}
    drop view if exists {{ plan.input }}
    {{ next_statement() }}
    {%- endif -%}
    {%- if plan.scd_type == 2 -%}
    drop view if exists {{ plan.view }}__timeline
    {{ next_statement() }}
    {%- endif -%}
    drop view if exists {{ plan.view }}__changes
{%- endmacro %}
