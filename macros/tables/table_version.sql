{#-
    Return a text that changes with every write to a Delta table; takes a few hundredths of a
    second.
-#}
{% macro table_version(relation) -%}
    {%- set detail = run_query('describe detail ' ~ relation).rows[0] -%}
    {{- return([
        detail['id'], detail['lastModified'], detail['numFiles'], detail['sizeInBytes']
    ] | join(' ')) -}}
{%- endmacro %}
