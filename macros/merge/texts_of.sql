{#-
    Return the values of some expressions over all rows of a relation or query, as texts, none for
    null.
-#}
{% macro texts_of(expressions, rows) -%}
    {%- set texts = [] -%}
    {%- for one in expressions -%}{%- do texts.append('cast(' ~ one ~ ' as string)') -%}{%- endfor -%}
    {%- set query = 'select to_json(array(' ~ texts | join(', ') ~ ')) as facts from ' ~ rows -%}
    {{- return(fromjson(run_query(query).columns[0].values()[0])) -}}
{%- endmacro %}
