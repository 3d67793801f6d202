{#-
    Run a text of statements (macros/changes); gives the rows of the last.
-#}
{% macro run_statements(text) -%}
    {%- set answers = [] -%}
    {%- for query in text.split('-- next statement') if query | trim -%}
        {%- do answers.append(run_query(query | trim)) -%}
    {%- endfor -%}
    {{- return(answers | last) -}}
{%- endmacro %}
