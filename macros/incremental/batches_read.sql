{#-
    What a model's text reads, from the markers that `unread` left: {relation: [mark, newest]}.
-#}
{% macro batches_read(code) -%}
    {%- set read = {} -%}
    {%- for relation, mark, newest in modules.re.findall(
        '/\\* unread (\\S+) (-?\\d+) (-?\\d+) \\*/', code
    ) -%}
        {#- Two types of one stream may not be as far: what all have read counts. -#}
        {%- set known = read.get(relation, [0, newest | int])[1] -%}
        {%- do read.update({relation: [mark | int, [newest | int, known] | min]}) -%}
    {%- endfor -%}
    {{- return(read) -}}
{%- endmacro %}
