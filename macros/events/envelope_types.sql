{#-
    Types of columns that a stream's records have although nobody declared them, by path: those
    of CloudEvents (as in ingest/declarations/envelopes.py), the bytes of a message that is not
    read, and what tells events apart.
-#}
{% macro envelope_types(stream) -%}
    {%- set declared = stream.config.meta.ingest -%}
    {%- set types = {} -%}
    {%- if declared.get('envelope') == 'cloudevents' -%}
        {%- for name in ['specversion', 'id', 'source', 'type', 'subject', 'datacontenttype'] -%}
            {%- do types.update({name: 'string'}) -%}
        {%- endfor -%}
        {%- do types.update({'time': 'timestamp', 'data': 'variant'}) -%}
    {%- elif declared.format == 'bytes' -%}
        {%- do types.update({'value': 'binary'}) -%}
    {%- elif declared.get('event_type') -%}
        {%- for path in declared.get('event_id') or declared.get('key') or [] -%}
            {%- do types.update({path: 'string'}) -%}
        {%- endfor -%}
    {%- endif -%}
    {{- return(types) -}}
{%- endmacro %}
