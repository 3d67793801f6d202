{#-
    The newest batch that tables of types hold: of one type, else of all types of the stream that
    `relation` is; none where no table of theirs lags behind it.
-#}
{% macro filled_batch(relation, event_type) -%}
    {%- set streams = graph.sources.values()
        | selectattr('schema', 'equalto', relation.schema)
        | selectattr('identifier', 'equalto', relation.identifier)
        | selectattr('config.meta.ingest') | list -%}
    {%- set batches = [] -%}
    {%- for stream in streams if has_type_tables(stream) -%}
        {%- set types = known_types(stream.source_name ~ '.' ~ stream.name) -%}
        {%- for name, type in types.items()
            if event_type in (none, name) and 'filled_batch_id' in type -%}
            {%- do batches.append(type.filled_batch_id) -%}
        {%- endfor -%}
    {%- endfor -%}
    {{- return(batches | min if batches else none) -}}
{%- endmacro %}
