{#-
    Columns of a stream before its first record: what ingest adds, then what is declared.

    A declared path (`jsonPayload.user_id`) becomes a field of a struct. The order and the
    types of the first twelve are those that ingest writes.
-#}
{% macro empty_stream_columns(stream) -%}
    {%- set types = {
        '_ingested_at': 'timestamp',
        '_batch_id': 'bigint',
        '_source': 'string',
        '_partition': 'int',
        '_offset': 'bigint',
        '_key': 'binary',
        '_headers': 'array<struct<key: string, value: binary>>',
        '_timestamp': 'timestamp',
        '_schema_id': 'string',
        '_event_date': 'date',
        '_event_type': 'string',
        '_rescued': 'string',
    } -%}
    {%- set paths = {} -%}
    {%- for column in stream.columns.values() if column.name not in types -%}
        {%- do paths.update({column.name: column.data_type or 'string'}) -%}
    {%- endfor -%}
    {%- do types.update(nested_types(paths)) -%}
    {{- return(types) -}}
{%- endmacro %}
