{#-
    Statements that drop the temporary views and the variable of this build.
-#}
{% macro release_changes(plan) -%}
    {%- if plan.snapshot_by -%}
        {%- for view in (plan.input, plan.view ~ '__before', plan.view ~ '__steps', plan.view ~ '__new_extracts') -%}
    drop view if exists {{ view }}
    {{ next_statement() }}
        {%- endfor -%}
    {%- endif -%}
    {%- if plan.scd_type == 2 -%}
    drop view if exists {{ plan.view }}__timeline
    {{ next_statement() }}
    {%- endif -%}
    {%- if plan.scd_type == 1 and plan.partial -%}
    drop view if exists {{ plan.view }}__rows
    {{ next_statement() }}
    {%- endif -%}
    {%- if is_marked(plan) | trim %}
    drop temporary variable if exists {{ plan.view }}__marks
    {{ next_statement() }}
    {%- endif %}
    drop view if exists {{ plan.view }}__changes
{%- endmacro %}
