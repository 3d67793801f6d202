{#-
    Of a model's marks those that count the versions of a table's change data feed.
-#}
{% macro feed_marks(marks, relation) -%}
    {%- set found = {} -%}
    {%- for name, version in marks.items()
        if name.startswith(relation ~ '@') and name != relation ~ '@version' -%}
        {%- do found.update({name: version}) -%}
    {%- endfor -%}
    {{- return(found) -}}
{%- endmacro %}
