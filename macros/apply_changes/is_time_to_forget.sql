{#-
    Whether this build drops what was remembered long enough: each does, but where one process
    builds again and again, one in ten minutes. To keep it longer breaks no promise.
-#}
{% macro is_time_to_forget() -%}
    {%- set now = modules.datetime.datetime.now() -%}
    {%- set times = graph.setdefault('headwater_forgotten', {}) -%}
    {%- set last = times.get(this | string) -%}
    {%- if driver_facts() and last and (now - last).total_seconds() < 600 -%}
        {{- return(false) -}}
    {%- endif -%}
    {%- do times.update({this | string: now}) -%}
    {{- return(true) -}}
{%- endmacro %}
