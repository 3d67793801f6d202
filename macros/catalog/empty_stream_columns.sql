{#-
    Return the columns of a stream before its first record, as {name: type}: those that ingest adds,
    those of its envelope, and those that are declared.

    A declared path (`jsonPayload.user_id`) becomes a field of a struct. Where each event type has a
    table or view, the payload is a variant, whatever is declared in it. The first twelve columns
    have the order and types that ingest writes.
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
    {%- set payload = event_payload(stream) -%}
    {%- set paths = {} -%}
    {%- set declared = stream.columns.values() | rejectattr('name', 'in', types) | list -%}
    {%- set names = declared | map(attribute='name') | map('lower') | list -%}
    {%- set known = {} -%}
    {%- for path, type in envelope_types(stream).items() -%}
        {%- do known.update({path | lower: type}) -%}
        {%- if path | lower not in names -%}
            {%- do paths.update({path: type}) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- for column in declared
        if not (payload and (column.name ~ '.').startswith(payload ~ '.')) -%}
        {%- do paths.update({column.name: column.data_type or known.get(column.name | lower, 'string')}) -%}
    {%- endfor -%}
    {%- if payload -%}
        {%- do paths.update({payload: 'variant'}) -%}
    {%- endif -%}
    {%- do types.update(nested_types(paths)) -%}
    {{- return(types) -}}
{%- endmacro %}
