{#-
    Return those of a model's watermarks that are versions of the change data feed of `relation`.
-#}
{% macro feed_watermarks(watermarks, relation) -%}
    {%- set found = {} -%}
    {%- for name, version in watermarks.items()
        if name.startswith(relation ~ '@') and name != relation ~ '@version' -%}
        {%- do found.update({name: version}) -%}
    {%- endfor -%}
    {{- return(found) -}}
{%- endmacro %}
