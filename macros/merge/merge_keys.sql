{#-
    The conditions under which a row of the input is the row of the table.
-#}
{% macro merge_keys(unique_key) -%}
    {%- if not unique_key -%}{{- return(['false']) -}}{%- endif -%}
    {%- set conditions = [] -%}
    {%- for key in ([unique_key] if unique_key is string else unique_key) -%}
        {%- do conditions.append(
            'DBT_INTERNAL_SOURCE.' ~ key ~ ' = DBT_INTERNAL_DEST.' ~ key
        ) -%}
    {%- endfor -%}
    {{- return(conditions) -}}
{%- endmacro %}
