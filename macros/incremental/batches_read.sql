{#-
    What a model's text reads, from the markers that `unread` left: {relation: [mark, newest]}.
-#}
{% macro batches_read(code) -%}
    {%- set read = {} -%}
    {%- for relation, mark, newest in modules.re.findall(
        '/\\* unread (\\S+) (-?\\d+) (-?\\d+) \\*/', code
    ) -%}
        {%- do read.update({relation: [mark | int, newest | int]}) -%}
    {%- endfor -%}
    {{- return(read) -}}
{%- endmacro %}
