{#-
    Return the columns of a merge's input, in their order and as SQL has them.
-#}
{% macro input_columns(source) -%}
    {%- set names = [] -%}
    {%- for row in run_query('describe ' ~ source).rows -%}
        {%- do names.append('`' ~ row['col_name'] | replace('`', '``') ~ '`') -%}
    {%- endfor -%}
    {{- return(names) -}}
{%- endmacro %}
