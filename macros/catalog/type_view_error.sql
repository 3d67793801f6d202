{#-
    Return why Spark cannot create views of some types, in one line; none if it can.

    EXPLAIN returns the error as text, where creating the view would fail the command.
-#}
{% macro type_view_error(types) -%}
    {%- set queries = [] -%}
    {%- for type in types -%}
        {%- do queries.append('select 1 from (' ~ type.query ~ ') where false') -%}
    {%- endfor -%}
    {%- set lines = run_query('explain ' ~ queries | join(' union all ')).columns[0].values() -%}
    {%- if lines[0].startswith('Error occurred') -%}
        {{- return((lines | join(' ')).split() | join(' ')) -}}
    {%- endif -%}
    {{- return(none) -}}
{%- endmacro %}
