{#-
    Return the cache of this invocation, shared by all nodes and dropped when the invocation ends.

    watermarks  {model: {relation: newest batch it has merged}}, as recorded; for a change data
                feed, `table@name`: the table version up to which the model has read it or, for the
                model's own feed, written it
    codes       {model: fingerprint of the text that built it}, as recorded
    versions    {relation: [version of the table, its newest batch]}, as recorded
    newest      {relation: newest batch}, looked up once so that all models read the same slice
    feeds       {table: its change data feed}, looked up for tables that no dbt model records
    paths       {table: its path}, for tables whose changes are read
    batches     {microbatch model: beginnings of batches that have rows, from the first one on}
    built       {node: what it wrote}, recorded at the end of the invocation

    It is stored in dbt's `graph`, the only object that outlives a node and that macros can write.
-#}
{% macro invocation_cache() -%}
    {%- if graph.get('headwater', {}).get('invocation_id') != invocation_id -%}
        {%- set cache = {
            'invocation_id': invocation_id,
            'watermarks': {},
            'codes': {},
            'versions': {},
            'newest': {},
            'feeds': {},
            'paths': {},
            'batches': {},
            'built': {},
        } -%}
        {%- do load_watermarks(cache) -%}
        {#- Store it only when complete: other threads may read it. -#}
        {%- do graph.update({'headwater': cache}) -%}
    {%- endif -%}
    {{- return(graph['headwater']) -}}
{%- endmacro %}
