{#-
    Return whether the model is up to date: every relation that it reads ends at the model's
    watermark.

    False for a model without an incremental filter.
-#}
{% macro is_up_to_date(read) -%}
    {%- for watermark, newest in read.values() if watermark != newest -%}
        {{- return(false) -}}
    {%- endfor -%}
    {{- return(read | length > 0) -}}
{%- endmacro %}
