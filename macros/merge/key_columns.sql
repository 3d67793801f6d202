{#-
    A `unique_key` as a list.
-#}
{% macro key_columns(unique_key) -%}
    {{- return([unique_key] if unique_key is string else (unique_key or []) | list) -}}
{%- endmacro %}
