{#-
    Fail if a column that `unique_key` names is not among the model's columns, in lower case.
-#}
{% macro check_key_columns(keys, names) -%}
    {%- for key in keys if modules.re.match('\\w+$', key) and key | lower not in names -%}
        {%- do exceptions.raise_compiler_error(
            this ~ ': unique_key ' ~ key ~ ' is not a column of the model; it has ' ~ names | join(', ')
        ) -%}
    {%- endfor -%}
{%- endmacro %}
