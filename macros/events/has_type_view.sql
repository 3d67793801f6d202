{#-
    Return whether the catalog has the view of an event type. A type that arrives during a build is
    read by the next build. Always true in commands that build nothing, which need only the view's
    name.
-#}
{% macro has_type_view(type) -%}
    {%- if not uses_watermarks() -%}
        {{- return(true) -}}
    {%- endif -%}
    {%- set shown = graph['headwater_types'].shown -%}
    {%- if type.table_schema not in shown -%}
        {%- set views = run_query('show views in ' ~ type.table_schema) -%}
        {%- do shown.update({type.table_schema: views.columns[1].values()}) -%}
    {%- endif -%}
    {{- return(type.table_name in shown[type.table_schema]) -}}
{%- endmacro %}
