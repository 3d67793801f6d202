{#-
    Whether this build drops what was remembered long enough: each does, but where one process
    builds again and again, one in ten minutes. To keep it longer breaks no promise.
-#}
{% macro is_time_to_forget() -%}
    {%- set last = graph.get('headwater_forgotten', {}).get(this | string) -%}
    {{- return(
        not driver_facts() or not last
        or (modules.datetime.datetime.now() - last).total_seconds() >= 600
    ) -}}
{%- endmacro %}
