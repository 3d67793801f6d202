{#-
    What this invocation has learned; shared by all nodes, gone when it ends.

    marks     {model: {relation: newest batch it has merged}}, as recorded; of a change data feed,
              `table@name`, the version of the table up to which it was read or, its own, written
    codes     {model: fingerprint of the text that built it}, as recorded
    versions  {relation: [version of the table, its newest batch]}, as recorded
    newest    {relation: newest batch}, looked up once so that all models read the same slice
    feeds     {table: its change data feed}, looked up where no model of dbt's records it
    places    {table: its path}, of tables whose changes are read
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
            'feeds': {},
            'places': {},
            'built': {},
        } -%}
        {%- do read_marks(memory) -%}
        {#- Last, for another thread may ask meanwhile. -#}
        {%- do graph.update({'headwater': memory}) -%}
    {%- endif -%}
    {{- return(graph['headwater']) -}}
{%- endmacro %}
