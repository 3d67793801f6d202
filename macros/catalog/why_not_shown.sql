{#-
    Why Spark cannot make views of some types, in one line; none where it can.

    EXPLAIN answers in words what would end the command as an error.
-#}
{% macro why_not_shown(types) -%}
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
