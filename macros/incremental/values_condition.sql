{#-
    SQL condition `column in (…)` for the values that `values_in` found; a range if there are more
    than 400.
-#}
{% macro values_condition(column, relation, found) -%}
    {%- set type, values = found -%}
    {%- set literals = [] -%}
    {%- for value in values if value is not none -%}
        {%- do literals.append(typed_literal(type, value)) -%}
        {%- if literals[-1] is none -%}
            {%- do exceptions.raise_compiler_error(
                this ~ ': affected_partitions() works on columns of dates, timestamps, whole numbers, decimals, '
                ~ 'booleans and texts (without ${), and ' ~ column ~ ' of ' ~ relation ~ ' is ' ~ type
            ) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- set conditions = [column ~ ' is null'] if none in values else [] -%}
    {%- if literals | length > 400 -%}
        {%- do conditions.append(column ~ ' between ' ~ literals | first ~ ' and ' ~ literals | last) -%}
    {%- elif literals -%}
        {%- do conditions.append(column ~ ' in (' ~ literals | join(', ') ~ ')') -%}
    {%- endif -%}
    {{- return('(' ~ conditions | join(' or ') ~ ')' if conditions else 'false') -}}
{%- endmacro %}
