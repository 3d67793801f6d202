{#-
    Return the watermarks that a model's compiled text reads: {relation: [watermark, newest batch]}.

    Read from the marker comments that `incremental_filter` renders.
-#}
{% macro watermarks_in_sql(code) -%}
    {%- set read = {} -%}
    {%- for relation, watermark, newest in modules.re.findall(
        '/\\* watermark (\\S+) (-?\\d+) (-?\\d+) \\*/', code
    ) -%}
        {#- Two types of one stream may end at different batches: the lower one counts. -#}
        {%- set known = read.get(relation, [0, newest | int])[1] -%}
        {%- do read.update({relation: [watermark | int, [newest | int, known] | min]}) -%}
    {%- endfor -%}
    {{- return(read) -}}
{%- endmacro %}
