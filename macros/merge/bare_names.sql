{#-
    Return column names in the form in which Spark compares them: without backticks, in lower case.
-#}
{% macro bare_names(names) -%}
    {%- set found = [] -%}
    {%- for name in names -%}
        {%- set inner = name[1:-1] | replace('``', '`') if name.startswith('`') else name -%}
        {%- do found.append(inner | lower) -%}
    {%- endfor -%}
    {{- return(found) -}}
{%- endmacro %}
