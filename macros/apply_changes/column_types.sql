{#-
    Return the columns of a table or view as {name: type}; empty if there is no relation.
-#}
{% macro column_types(relation) -%}
    {%- set types = {} -%}
    {%- if relation -%}
        {%- for row in run_query('describe table ' ~ relation)
            if not row[0].startswith('#') and row[0] not in types and row[0] -%}
            {%- do types.update({row[0]: row[1]}) -%}
        {%- endfor -%}
    {%- endif -%}
    {{- return(types) -}}
{%- endmacro %}
