{#-
    Return the watermarks that a model's compiled text reads: {relation: [watermark, newest batch]}.

    Read from the marker comments that `unread` renders.
-#}
{% macro batches_read(code) -%}
    {%- set read = {} -%}
    {%- for relation, mark, newest in modules.re.findall(
        '/\\* unread (\\S+) (-?\\d+) (-?\\d+) \\*/', code
    ) -%}
        {#- Two types of one stream may end at different batches: the lower one counts. -#}
        {%- set known = read.get(relation, [0, newest | int])[1] -%}
        {%- do read.update({relation: [mark | int, [newest | int, known] | min]}) -%}
    {%- endfor -%}
    {{- return(read) -}}
{%- endmacro %}
