{#-
    SQL expression for the least or greatest value of a column, written as a literal; null if a text
    is longer than 200 characters.
-#}
{% macro bound_literal(aggregate, name, type) -%}
    {%- set value = aggregate ~ '(`' ~ name ~ '`)' -%}
    {%- if type == 'string' -%}
        if(
            length({{ value }}) > 200, null,
            concat('\'', replace(replace(replace({{ value }}, '\\', '\\\\'), '\'', '\\\''), '$', '\\$'), '\'')
        )
    {%- elif type in ('date', 'timestamp') -%}
        concat('{{ type }}\'', cast({{ value }} as string), '\'')
    {%- else -%}
        cast({{ value }} as string) || '{{ 'L' if type == 'bigint' }}'
    {%- endif -%}
{%- endmacro %}
