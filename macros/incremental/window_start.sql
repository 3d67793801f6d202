{#-
    SQL expression for the beginning of the window of time in which `time` lies: windows of one
    size, such as `'15 minutes'`, one after the other from 1970 on, in UTC.
-#}
{% macro window_start(time, size) -%}
    {%- set length = duration(size, 'a window has a size') -%}
    {%- set micros = 'unix_micros(cast(' ~ time ~ ' as timestamp))' -%}
    timestamp_micros({{ micros }} - pmod({{ micros }}, {{ length }}))
{%- endmacro %}
