{#-
    Return the newest batch that all tables of event types contain: of one type or, without
    `event_type`, of all types of the stream `relation`; none if no table of these types lags.

    Logs a line for each type whose table waits for a decision, if the model names no `event_type`.
-#}
{% macro filled_batch(relation, event_type) -%}
    {%- set streams = graph.sources.values()
        | selectattr('schema', 'equalto', relation.schema)
        | selectattr('identifier', 'equalto', relation.identifier)
        | selectattr('config.meta.ingest') | list -%}
    {%- set batches = [] -%}
    {%- for stream in streams -%}
        {%- set types = event_types(stream.source_name ~ '.' ~ stream.name) -%}
        {%- for name, type in types.items()
            if event_type in (none, name) and 'filled_batch_id' in type -%}
            {%- do batches.append(type.filled_batch_id) -%}
            {%- if 'pending' in type and event_type is none -%}
                {%- do log(model.name ~ ': reads ' ~ relation ~ ' no further than batch '
                    ~ type.filled_batch_id ~ ', because ' ~ name | tojson ~ ' waits for a decision; '
                    ~ 'give incremental_filter() the event_type that the model reads', info=true) -%}
            {%- endif -%}
        {%- endfor -%}
    {%- endfor -%}
    {{- return(batches | min if batches else none) -}}
{%- endmacro %}
