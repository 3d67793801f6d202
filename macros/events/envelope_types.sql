{#-
    Return the types of columns that a stream's records have without a declaration, as {path: type}:
    those of an envelope (as in ingest/declarations/envelope_defaults.py), the bytes of a message that is
    not decoded, and the columns that identify events.
-#}
{% macro envelope_types(stream) -%}
    {%- set declared = stream.config.meta.ingest -%}
    {%- set types = {} -%}
    {%- set envelope = declared.get('envelope')
        or ('debezium' if declared.get('from') == 'postgres') -%}
    {%- if envelope == 'cloudevents' -%}
        {%- for name in ['specversion', 'id', 'source', 'type', 'subject', 'datacontenttype'] -%}
            {%- do types.update({name: 'string'}) -%}
        {%- endfor -%}
        {%- do types.update({'time': 'timestamp', 'data': 'variant'}) -%}
    {%- elif envelope == 'debezium' -%}
        {%- do types.update({'op': 'string'}) -%}
        {%- for name in ['source_lsn', 'source_ts_ms', 'transaction_order'] -%}
            {%- do types.update({name: 'bigint'}) -%}
        {%- endfor -%}
    {%- elif envelope == 'dms' -%}
        {%- do types.update({'Op': 'string'}) -%}
    {%- elif declared.format == 'bytes' -%}
        {%- do types.update({'value': 'binary'}) -%}
    {%- endif -%}
    {%- if declared.get('event_type') and envelope != 'cloudevents' and declared.format != 'bytes' -%}
        {%- for path in declared.get('event_id') or declared.get('key') or [] -%}
            {%- do types.update({path: types.get(path, 'string')}) -%}
        {%- endfor -%}
    {%- endif -%}
    {{- return(types) -}}
{%- endmacro %}
