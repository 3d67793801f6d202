{#-
    Whether every relation that the model reads ends at the model's mark.

    A model that reads something without `unread` is never sure.
-#}
{% macro nothing_new(read) -%}
    {%- for mark, newest in read.values() if mark != newest -%}
        {{- return(false) -}}
    {%- endfor -%}
    {{- return(read | length > 0) -}}
{%- endmacro %}
