{#-
    Whether a declared stream has types with tables of their own, which lag behind its own table.
-#}
{% macro has_type_tables(stream) -%}
    {%- set declared = stream.config.meta.ingest -%}
    {%- set told = [declared] + (declared.get('event_groups') or []) -%}
    {{- return('tables' in told | map(attribute='per_type') | list) -}}
{%- endmacro %}
