{#-
    The table of one type of event, typed: what `ref` is to a model.

    It stands below the stream's source in the lineage, so `source:github.events+` selects what
    reads it; what is new in it is `unread(source('github', 'events'))`, because both count the
    same batches. A type that nobody has sent yet has no rows, and the columns that the model's
    yml declares with a `data_type`.
-#}
{% macro events_of(source_name, event_type, stream_name='events') -%}
    {%- if not execute -%}
        {{ source(source_name, stream_name) }}
    {%- else -%}
        {%- set stream = source(source_name, stream_name) -%}
        {%- set known = known_types(source_name ~ '.' ~ stream_name) -%}
        {%- if event_type in known and is_shown(known[event_type]) -%}
            {{ api.Relation.create(
                schema=known[event_type].table_schema,
                identifier=known[event_type].table_name,
                limit=stream.limit
            ) }}
        {%- else -%}
            {{ unseen_events(source_name, stream_name, event_type, stream) }}
        {%- endif -%}
    {%- endif -%}
{%- endmacro %}
