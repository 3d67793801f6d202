{#-
    What this catalog has been told of types of events, as `tell_types` keeps it: {key: value}.
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
