{#-
    Return the path of the object with an event's attributes, if a declared stream is split by event
    type; none if it is not. The rules are those of ingest/declarations/reading.py.
-#}
{% macro event_payload(stream) -%}
    {%- set declared = stream.config.meta.ingest -%}
    {%- set is_cloudevents = declared.get('envelope') == 'cloudevents' -%}
    {%- set payload = declared.get('payload', 'data' if is_cloudevents else none) -%}
    {%- set is_typed = [] -%}
    {%- for column in stream.columns.values() if column.data_type -%}
        {%- set is_payload = column.name == payload and column.data_type | lower != 'variant' -%}
        {%- if is_payload or column.name.startswith(payload ~ '.') -%}
            {%- do is_typed.append(column.name) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- set has_type = payload and (declared.get('event_type') or is_cloudevents) -%}
    {%- set is_split = has_type and (not is_typed or declared.get('event_groups')) -%}
    {%- if declared.get('per_type', 'views' if is_split else 'none') != 'none' -%}
        {{- return(payload) -}}
    {%- endif -%}
    {{- return(none) -}}
{%- endmacro %}
