{#-
    Return whether a strategy appends all rows of its input: `append`, or a merge without a key.
-#}
{% macro appends(strategy) -%}
    {{- return(strategy == 'append' or (strategy == 'merge' and not key_columns(config.get('unique_key')))) -}}
{%- endmacro %}
