{#-
    A text as a SQL literal; `${` would be a variable.
-#}
{% macro sql_text(value) -%}
    '{{ value | replace('\\', '\\\\') | replace("'", "\\'") | replace('${', '$\\{') }}'
{%- endmacro %}
