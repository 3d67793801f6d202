{#-
    SQL expression for a value in a form that Spark can compare and hash: maps and variants as JSON,
    integers and floats in their widest type.

    Timestamps keep their microseconds, which `to_json` drops by default. State tables store hashes
    of this text (`change_content`), which break ties of changes with one sequence: after a change
    of the format, a build that reads such a change again may decide its tie otherwise. No other
    row is seen as changed, because rows are compared as they stand.
-#}
{% macro comparable_value(value, type) -%}
    {%- if 'map<' in type or 'variant' in type -%}
        to_json(struct({{ value }} as value), map(
            'timestampFormat', 'yyyy-MM-dd HH:mm:ss.SSSSSSXXX',
            'timestampNTZFormat', 'yyyy-MM-dd HH:mm:ss.SSSSSS'
        ))
    {%- elif type in ('tinyint', 'smallint', 'int') -%}
        cast({{ value }} as bigint)
    {%- elif type == 'float' -%}
        cast({{ value }} as double)
    {%- else -%}
        {{ value }}
    {%- endif -%}
{%- endmacro %}
