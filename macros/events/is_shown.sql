{#-
    Whether a type's view is in the catalog. A type may have come since this build began: what it
    brought belongs to the next one. Commands that build nothing only need its name.
-#}
{% macro is_shown(type) -%}
    {%- if not reads_marks() -%}
        {{- return(true) -}}
    {%- endif -%}
    {%- set shown = graph['headwater_types'].shown -%}
    {%- if type.table_schema not in shown -%}
        {%- set views = run_query('show views in ' ~ type.table_schema) -%}
        {%- do shown.update({type.table_schema: views.columns[1].values()}) -%}
    {%- endif -%}
    {{- return(type.table_name in shown[type.table_schema]) -}}
{%- endmacro %}
