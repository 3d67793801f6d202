{#-
    Make the views of types that this catalog does not know as they are now, and note it in
    `told`; whether it knows all of them afterwards. `schemas` gets those that are made.
-#}
{% macro register_changed_types(told, schemas) -%}
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
            {%- do told.update({key: '-1 -1'}) -%}
        {%- endif -%}
        {%- set changed_at, batch = told.get(key, '-1 -1').split(' ') -%}
        {%- if changed_at | int != stream.newest -%}
            {%- set newest = build_memory().newest -%}
            {%- if is_registered(stream.bronze_table) and show_types(stream.stream, changed_at) -%}
                {%- set batch = newest.get(stream.bronze_table, -1) -%}
                {%- do told.update({key: stream.newest ~ ' ' ~ batch}) -%}
            {%- else -%}
                {#- What the views do not show yet waits for the next build. -#}
                {%- do newest.update({stream.bronze_table: batch | int}) -%}
                {%- do waiting.append(stream.stream) -%}
            {%- endif -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(not waiting) -}}
{%- endmacro %}
