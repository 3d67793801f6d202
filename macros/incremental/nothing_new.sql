{#-
    Return whether the model is up to date: every relation that it reads ends at the model's
    watermark.

    False for a model without an incremental filter.
-#}
{% macro nothing_new(read) -%}
    {%- for mark, newest in read.values() if mark != newest -%}
        {{- return(false) -}}
    {%- endfor -%}
    {{- return(read | length > 0) -}}
{%- endmacro %}
