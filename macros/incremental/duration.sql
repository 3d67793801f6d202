{#-
    Return a length of time such as `'15 minutes'` as its number of microseconds. `what` is what the
    error calls it.
-#}
{% macro duration(text, what) -%}
    {%- set units = {'second': 1, 'minute': 60, 'hour': 3600, 'day': 86400} -%}
    {%- set number, unit = modules.re.findall('^(\\d+) ([a-z]+?)s?$', text | string) | first or ('0', '') -%}
    {%- if unit not in units or not number | int -%}
        {%- do exceptions.raise_compiler_error(
            this ~ ': ' ~ what ~ ' such as 15 minutes, in seconds, minutes, hours or days, not ' ~ text
        ) -%}
    {%- endif -%}
    {{- return(number | int * units[unit] * 1000000) -}}
{%- endmacro %}
