{#-
    Return which event types the catalog has, as saved by `save_registered_types`: {key: value}.
-#}
{% macro registered_types() -%}
    {%- set registered = {} -%}
    {%- set view = adapter.get_relation(none, 'ops', 'shown_types') -%}
    {%- for key, value in modules.re.findall(
        'headwater\\.types\\.(\\w+)=([-\\w ]*)', view.information if view else ''
    ) -%}
        {%- do registered.update({key: value}) -%}
    {%- endfor -%}
    {{- return(registered) -}}
{%- endmacro %}
