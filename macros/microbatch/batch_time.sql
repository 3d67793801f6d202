{#-
    Return the beginning or the end of a batch as text, in UTC.
-#}
{% macro batch_time(time) -%}
    {{- return(time.strftime('%Y-%m-%d %H:%M:%S')) -}}
{%- endmacro %}
