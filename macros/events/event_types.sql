{#-
    Return the event types that a stream has received: {type: its table and, for a type with a table
    of its own, the batch up to which the table is filled}. Looked up once per invocation.
-#}
{% macro event_types(stream) -%}
    {%- if graph.get('headwater_types', {}).get('invocation_id') != invocation_id -%}
        {%- set streams = {} -%}
        {%- set driver = driver_state() -%}
        {%- set types = none if driver else adapter.get_relation(none, 'ops', 'event_types') -%}
        {#- `ops.event_types` may be newer than the driver's list of registered tables. -#}
        {%- set types_found = driver.types if driver and 'ops.event_types' in driver.tables else [] -%}
        {%- if types is not none -%}
            {%- set query -%}
                select to_json(collect_list(struct(
                    stream, event_type, table_schema, table_name,
                    if(table_columns is null, null, filled_batch_id) as filled_batch_id,
                    if(table_columns is null, null, pending) as pending
                )))
                from {{ types }}
            {%- endset -%}
            {%- set types_found = fromjson(run_query(query).columns[0].values()[0]) -%}
        {%- endif -%}
        {%- for type in types_found -%}
            {%- do streams.setdefault(type.stream, {}).update({type.event_type: type}) -%}
        {%- endfor -%}
        {#- Store it only when complete: other threads may read it. -#}
        {%- do graph.update({'headwater_types': {
            'invocation_id': invocation_id, 'streams': streams, 'shown': {},
        }}) -%}
    {%- endif -%}
    {{- return(graph['headwater_types'].streams.get(stream, {})) -}}
{%- endmacro %}
