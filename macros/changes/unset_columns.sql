{#-
    SQL expression for the names of the columns that a change leaves unchanged.
-#}
{% macro unset_columns(plan, relation) -%}
    filter(array(
        {%- for name in plan.partial -%}
            {%- set value = relation ~ '.`' ~ name ~ '`' -%}
            {%- set unset = [] -%}
            {%- if name in plan.ignoring_nulls -%}
                {%- do unset.append(value ~ ' is null') -%}
            {%- endif -%}
            {%- set unavailable = is_unavailable(plan, value, plan.columns[name]) | trim
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
            {{ ', ' if not loop.last }}
        {%- endfor -%}
    ), name -> name is not null)
{%- endmacro %}
