{#-
    Properties of a table or view in SQL, between the parentheses of `tblproperties`.
-#}
{% macro properties_sql(properties) -%}
    {%- for name, value in properties.items() -%}
        {{ sql_literal(name) }} = {{ sql_literal(value | string) }}{{ ', ' if not loop.last }}
    {%- endfor -%}
{%- endmacro %}
