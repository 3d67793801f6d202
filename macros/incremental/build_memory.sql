{#-
    What this invocation has learned; shared by all nodes, gone when it ends.

    marks     {model: {relation: newest batch it has merged}}, as recorded
    codes     {model: fingerprint of the text that built it}, as recorded
    versions  {relation: [version of the table, its newest batch]}, as recorded
    newest    {relation: newest batch}, looked up once so that all models read the same slice
    built     {node: what it wrote}, recorded at the end

    dbt gives macros no other place that outlives a node than its `graph`.
-#}
{% macro build_memory() -%}
    {%- if graph.get('headwater', {}).get('invocation_id') != invocation_id -%}
        {%- set memory = {
            'invocation_id': invocation_id,
            'marks': {},
            'codes': {},
            'versions': {},
            'newest': {},
            'built': {},
        } -%}
        {%- do read_marks(memory) -%}
        {#- Last, for another thread may ask meanwhile. -#}
        {%- do graph.update({'headwater': memory}) -%}
    {%- endif -%}
    {{- return(graph['headwater']) -}}
{%- endmacro %}
