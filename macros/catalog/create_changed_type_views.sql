{#-
    Create the views of event types that the catalog does not have in their present form, and update
    `registered`, the registered state per stream. Return whether the catalog has all types
    afterwards. Created schemas are appended to `schemas`.
-#}
{% macro create_changed_type_views(registered, schemas) -%}
    {%- set query -%}
        select to_json(collect_list(struct(*)))
        from (
            select stream, table_schema, bronze_table, max(unix_micros(changed_at)) as newest
            from ops.event_types
            group by stream, table_schema, bronze_table
        )
    {%- endset -%}
    {%- set waiting = [] -%}
    {%- for stream in fromjson(run_query(query).columns[0].values()[0]) -%}
        {%- set key = local_md5(stream.stream) -%}
        {%- if stream.table_schema not in schemas -%}
            {%- do adapter.create_schema(api.Relation.create(schema=stream.table_schema)) -%}
            {%- do schemas.append(stream.table_schema) -%}
            {%- do registered.update({key: '-1 -1'}) -%}
        {%- endif -%}
        {%- set changed_at, batch = registered.get(key, '-1 -1').split(' ') -%}
        {%- if changed_at | int != stream.newest -%}
            {%- set newest = invocation_cache().newest -%}
            {%- if is_registered(stream.bronze_table) and create_type_views(stream.stream, changed_at) -%}
                {%- set batch = newest.get(stream.bronze_table, -1) -%}
                {%- do registered.update({key: stream.newest ~ ' ' ~ batch}) -%}
            {%- else -%}
                {#- The next build reads the batches that the views do not show yet. -#}
                {%- do newest.update({stream.bronze_table: batch | int}) -%}
                {%- do waiting.append(stream.stream) -%}
            {%- endif -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(not waiting) -}}
{%- endmacro %}
