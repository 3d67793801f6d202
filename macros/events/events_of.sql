{#-
    Return the table of one event type with typed columns, for use in a model like `ref`.

    In the lineage it is downstream of the stream's source, so `source:github.events+` selects the
    models that read it. Its incremental filter is `incremental_filter(source('github', 'events'))`,
    because both have the same batch numbers. A type without events yet is an empty relation with
    the columns that the model's yml declares with a `data_type`.
-#}
{% macro events_of(source_name, event_type, stream_name='events') -%}
    {%- if not execute -%}
        {{ source(source_name, stream_name) }}
    {%- else -%}
        {%- set stream = source(source_name, stream_name) -%}
        {%- set known = event_types(source_name ~ '.' ~ stream_name) -%}
        {%- if event_type in known and has_type_view(known[event_type]) -%}
            {{ api.Relation.create(
                schema=known[event_type].table_schema,
                identifier=known[event_type].table_name,
                limit=stream.limit
            ) }}
        {%- else -%}
            {{ events_before_first(source_name, stream_name, event_type, stream) }}
        {%- endif -%}
    {%- endif -%}
{%- endmacro %}
