{#-
    A value as Spark SQL text. Backslash and quote are escaped; `${` would be a variable.
-#}
{% macro sql_literal(value) -%}
    {%- if value is none -%}
        null
    {%- elif value is boolean -%}
        {{ value | string | lower }}
    {%- elif value is number -%}
        {{ value }}
    {%- else -%}
        '{{ value | string | replace('\\', '\\\\') | replace("'", "\\'") | replace('${', '$\\{') }}'
    {%- endif -%}
{%- endmacro %}
