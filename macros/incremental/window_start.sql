{#-
    SQL expression for the beginning of the window of time in which `time` lies: windows of one
    size, such as `'15 minutes'`, one after the other from 1970 on, in UTC.
-#}
{% macro window_start(time, size) -%}
    {%- set units = {'second': 1, 'minute': 60, 'hour': 3600, 'day': 86400} -%}
    {%- set number, unit = modules.re.findall('^(\\d+) ([a-z]+?)s?$', size) | first or ('0', '') -%}
    {%- if unit not in units or not number | int -%}
        {%- do exceptions.raise_compiler_error(
            this ~ ': a window has a size such as 15 minutes, in seconds, minutes, hours or days, not ' ~ size
        ) -%}
    {%- endif -%}
    {%- set micros = 'unix_micros(cast(' ~ time ~ ' as timestamp))' -%}
    timestamp_micros({{ micros }} - pmod({{ micros }}, {{ number | int * units[unit] * 1000000 }}))
{%- endmacro %}
