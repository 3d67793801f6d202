{#-
    Fail if a column that `unique_key` names is not a column of the table.
-#}
{% macro check_key_columns(keys, columns) -%}
    {%- set known = columns | map(attribute='name') | map('lower') | list -%}
    {%- for key in keys if modules.re.match('\\w+$', key) and key | lower not in known -%}
        {%- do exceptions.raise_compiler_error(
            this ~ ': unique_key ' ~ key ~ ' is not a column of the table; it has ' ~ known | join(', ')
        ) -%}
    {%- endfor -%}
{%- endmacro %}
