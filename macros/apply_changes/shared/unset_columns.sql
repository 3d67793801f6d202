{#-
    SQL expression for the names of the columns that a change leaves unchanged; empty if changes
    always set all columns.
-#}
{% macro unset_columns(plan, relation) -%}
    {%- for name in plan.partial -%}
        {{ 'filter(array(' if loop.first }}
        {%- set value = relation ~ '.`' ~ name ~ '`' -%}
        {%- set unset = [] -%}
        {%- if name in plan.ignoring_nulls -%}
            {%- do unset.append(value ~ ' is null') -%}
        {%- endif -%}
        {%- set unavailable = is_toast_placeholder(plan, value, plan.columns[name]) | trim
            if plan.unavailable_value else '' -%}
        {%- if unavailable -%}
            {%- do unset.append('coalesce(' ~ unavailable ~ ', false)') -%}
        {%- endif -%}
        {%- if plan.columns_to_update is string and plan.columns_to_update -%}
            {%- do unset.append(
                'not coalesce(array_contains(' ~ relation ~ '.`' ~ plan.columns_to_update
                ~ '`, ' ~ sql_text(name) ~ '), true)'
            ) -%}
        {%- elif plan.columns_to_update and name not in plan.columns_to_update -%}
            {%- do unset.append('true') -%}
        {%- endif -%}
        {%- if unset -%}
            if({{ unset | join(' or ') }}, {{ sql_text(name) }}, null)
        {%- else -%}
            null
        {%- endif -%}
        {{ '), name -> name is not null)' if loop.last else ', ' }}
    {%- endfor -%}
{%- endmacro %}
