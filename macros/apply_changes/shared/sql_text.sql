{#-
    A text as a SQL literal; a dollar sign before an opening brace is escaped, because it would
    begin a variable.
-#}
{% macro sql_text(value) -%}
    '{{ value | replace('\\', '\\\\') | replace("'", "\\'") | replace('${', '$\\{') }}'
{%- endmacro %}
