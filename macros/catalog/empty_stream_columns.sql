{#-
    Columns of a stream before its first record: what ingest adds, what its records have by
    themselves, and what is declared.

    A declared path (`jsonPayload.user_id`) becomes a field of a struct. Where each type of event
    has a table, the payload is a variant, whatever is declared below it. The order and the types
    of the first twelve are those that ingest writes.
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
