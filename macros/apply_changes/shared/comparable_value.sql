{#-
    SQL expression for a value in a form that Spark can compare and hash: maps and variants as JSON,
    integers and floats in their widest type.
-#}
{% macro comparable_value(value, type) -%}
    {%- if 'map<' in type or 'variant' in type -%}
        to_json(struct({{ value }} as value))
    {%- elif type in ('tinyint', 'smallint', 'int') -%}
        cast({{ value }} as bigint)
    {%- elif type == 'float' -%}
        cast({{ value }} as double)
    {%- else -%}
        {{ value }}
    {%- endif -%}
{%- endmacro %}
