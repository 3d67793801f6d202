{#-
    SQL condition for rows whose time is in a span (`time_span`), or at most `longer` after it; by
    its literals Delta skips files.
-#}
{% macro within_span(time, span, longer=none) -%}
    {%- set least, greatest = span -%}
    /* bounds */
    {%- if least is none %} false
    {%- else %} {{ time }} between {{ least }} and {{ greatest }}{{ ' + interval ' ~ longer if longer }}
    {%- endif %} /* end of bounds */
{%- endmacro %}
