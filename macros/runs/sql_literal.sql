{#-
    A value as a Spark SQL literal. Backslash and quote are escaped, and so is a dollar sign before
    an opening brace, which would begin a variable.
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
