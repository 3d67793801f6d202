{#-
    Subquery for an event type without events yet, in parentheses: the columns of every type, and
    those that the model's yml declares with a `data_type`.

    It selects the type's events from the stream, as the type's own table will, so a view that is
    not rebuilt when the first event arrives shows that event. If the catalog does not have the
    stream, because the command builds nothing, the columns are those before the first record. Fails
    if the stream is not split by event type, or if the model declares no `data_type` for a stream
    that has records.
-#}
{% macro events_before_first(source_name, stream_name, event_type, relation) -%}
    {%- set stream = graph.sources.values()
        | selectattr('source_name', 'equalto', source_name)
        | selectattr('name', 'equalto', stream_name) | first -%}
    {%- set payload = event_payload(stream) if stream.config.meta.ingest else none -%}
    {%- if not payload -%}
        {%- do exceptions.raise_compiler_error(
            'events_of: ' ~ stream_name ~ ' of ' ~ source_name ~ ' is not split by event type: its '
            ~ 'declaration needs an event_type and a payload'
        ) -%}
    {%- endif -%}
    {%- set declared = (model.columns or {}).values() | selectattr('data_type') | list -%}
    {%- set problem = source_name ~ '.' ~ stream_name ~ ' has no event of type '
        ~ event_type | tojson ~ nearest_types(source_name ~ '.' ~ stream_name, event_type) -%}
    {%- set known = adapter.get_relation(none, relation.schema, relation.identifier) -%}
    {%- if known and not declared -%}
        {%- do exceptions.raise_compiler_error(
            'events_of: ' ~ problem ~ '; to build before the first event, give columns of '
            ~ model.name ~ ' a data_type'
        ) -%}
    {%- endif -%}
    {%- if known -%}{%- do log(model.name ~ ': ' ~ problem, info=true) -%}{%- endif -%}
    {%- set columns = [] -%}
    {%- set names = [] -%}
    {%- set there = column_types(relation) if known else empty_stream_columns(stream) -%}
    {%- for name in there if name != payload -%}
        {%- do names.append(name | lower) -%}
        {%- do columns.append('`' ~ name ~ '`') -%}
    {%- endfor -%}
    {%- set has_payload = stream.config.meta.ingest.get('per_type') != 'tables' -%}
    {%- set object = '`' ~ payload.replace('`', '').replace('.', '`.`') ~ '`' -%}
    {%- for column in declared if column.name | lower not in names -%}
        {%- do columns.append(
            'try_variant_get(' ~ object ~ ', ' ~ sql_literal('$["' ~ column.name ~ '"]') ~ ', '
            ~ sql_literal(column.data_type) ~ ') as `' ~ column.name ~ '`'
        ) -%}
    {%- endfor -%}
    (
        select {{ columns | join(', ') }}{{ ', ' ~ object ~ ' as _payload' if has_payload }}
        from {{ relation }}
        where _event_type = {{ sql_literal(event_type) }}
    )
{%- endmacro %}
