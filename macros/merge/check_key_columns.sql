{#-
    Fail if a column that `unique_key` names is not among the columns of the table, or of the model
    before it has a table.

    names  the columns, in lower case
    of     `table` or `model`
-#}
{% macro check_key_columns(keys, names, of) -%}
    {%- for key in keys if modules.re.match('\\w+$', key) and key | lower not in names -%}
        {%- do exceptions.raise_compiler_error(
            this ~ ': unique_key ' ~ key ~ ' is not a column of the ' ~ of ~ '; it has ' ~ names | join(', ')
            ~ (' (of a column that the model selects now, build with --full-refresh --select ' ~ model.name ~ ')'
                if of == 'table')
        ) -%}
    {%- endfor -%}
{%- endmacro %}
