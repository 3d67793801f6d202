{#-
    Return the condition that a column of the table is between the least and the greatest value that
    `found` has (`range_parts`), or null, as a producer may leave out what it sends the next time;
    none if `found` has a null, which may match a row anywhere, or values whose order Delta's file
    statistics do not keep.
-#}
{% macro range_condition(column, found) -%}
    {%- set type, least, greatest, nulls = found -%}
    {%- if least and nulls == '0' and type != 'string' and typed_literal(type, least) -%}
        {%- set column = merge_aliases()[0] ~ '.' ~ column -%}
        {{- return(
            '(' ~ column ~ ' between ' ~ typed_literal(type, least) ~ ' and ' ~ typed_literal(type, greatest)
            ~ ' or ' ~ column ~ ' is null)'
        ) -}}
    {%- endif -%}
    {{- return(none) -}}
{%- endmacro %}
