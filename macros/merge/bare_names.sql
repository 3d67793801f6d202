{#-
    Names of columns as Spark compares them, without the backticks of those that need some.
-#}
{% macro bare_names(names) -%}
    {%- set found = [] -%}
    {%- for name in names -%}
        {%- set inner = name[1:-1] | replace('``', '`') if name.startswith('`') else name -%}
        {%- do found.append(inner | lower) -%}
    {%- endfor -%}
    {{- return(found) -}}
{%- endmacro %}
