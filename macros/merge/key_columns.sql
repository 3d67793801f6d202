{#-
    Return a `unique_key` as a list; empty for an empty text.
-#}
{% macro key_columns(unique_key) -%}
    {%- set keys = [unique_key] if unique_key is string else (unique_key or []) -%}
    {{- return(keys | select | list) -}}
{%- endmacro %}
