{#-
    Return whether the catalog has a table of the lake, as a table and not as a view.
-#}
{% macro is_registered(name) -%}
    {%- set schema_name, identifier = name.split('.') -%}
    {%- set known = adapter.get_relation(none, schema_name, identifier) -%}
    {{- return(known is not none and not known.is_view) -}}
{%- endmacro %}
