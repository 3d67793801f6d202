{#-
    Run the statements of a text (`next_statement`) and return the rows of the last one.
-#}
{% macro run_statements(text) -%}
    {%- set answers = [] -%}
    {%- for query in text.split('-- next statement') if query | trim -%}
        {%- do answers.append(run_query(query | trim)) -%}
    {%- endfor -%}
    {{- return(answers | last) -}}
{%- endmacro %}
