{#-
    Statements that drop the temporary views and the variable of this build.
-#}
{% macro drop_temp_views(plan) -%}
    {%- if plan.snapshot_by -%}
        {%- for view in (plan.input, plan.view ~ '__before', plan.view ~ '__steps', plan.view ~ '__new_extracts') -%}
    drop view if exists {{ view }}
    {{ next_statement() }}
        {%- endfor -%}
    {%- endif -%}
    {{ apply_strategy(plan, 'drop_views') }}
    {{ next_statement() }}
    {%- if uses_key_bitmap(plan) | trim %}
    drop temporary variable if exists {{ plan.view }}__key_bitmap
    {{ next_statement() }}
    {%- endif %}
    drop view if exists {{ plan.view }}__changes
{%- endmacro %}
