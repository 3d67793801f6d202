{#-
    Return which event types the catalog has, as saved by `tell_types`: {key: value}.
-#}
{% macro told_types() -%}
    {%- set told = {} -%}
    {%- set memory = adapter.get_relation(none, 'ops', 'shown_types') -%}
    {%- for key, value in modules.re.findall(
        'headwater\\.types\\.(\\w+)=([-\\w ]*)', memory.information if memory else ''
    ) -%}
        {%- do told.update({key: value}) -%}
    {%- endfor -%}
    {{- return(told) -}}
{%- endmacro %}
