{#-
    Return SQL expressions that `range_condition` makes a condition of: a column's type, least and
    greatest value, and how many rows have none.
-#}
{% macro range_parts(column) -%}
    {{- return([
        'typeof(any_value(' ~ column ~ '))',
        'min(' ~ column ~ ')',
        'max(' ~ column ~ ')',
        'count_if(' ~ column ~ ' is null)',
    ]) -}}
{%- endmacro %}
