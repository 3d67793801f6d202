{#-
    Return the first row of a result as {name: value}.
-#}
{% macro first_row(answer) -%}
    {%- set found = {} -%}
    {%- for name in answer.column_names -%}
        {%- set value = answer.rows[0][name] -%}
        {%- do found.update({name: value if name == 'bounds' else value | int}) -%}
    {%- endfor -%}
    {{- return(found) -}}
{%- endmacro %}
