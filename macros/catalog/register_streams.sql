{#-
    Every table that `ingest` has made is in the catalog; every other declared stream is an
    empty view, so that a project builds before anything has landed.

    A view, because no table has two writers: the first batch makes the table.
-#}
{% macro register_streams() -%}
    {%- do adapter.create_schema(api.Relation.create(schema='bronze')) -%}
    {%- set made = {} -%}
    {%- set listed = driver_facts().tables if driver_facts()
        else run_query('select table_name from ops.stream_tables').columns[0].values() -%}
    {%- for table in listed -%}
        {%- set name = table.split('.') | last -%}
        {%- if not table.startswith('ops.') -%}
            {%- do made.update({name: true}) -%}
        {%- elif adapter.get_relation(none, 'ops', name) is none -%}
            {%- do register_table('ops', name) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- for name in made -%}
        {%- set known = adapter.get_relation(none, 'bronze', name) -%}
        {%- if known and known.is_view -%}
            {%- do adapter.drop_relation(known) -%}
        {%- endif -%}
        {%- if not known or known.is_view -%}
            {%- do register_table('bronze', name) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- for stream in graph.sources.values() -%}
        {#- What was told may be older than the table, which another dbt may have made known. -#}
        {%- if stream.schema == 'bronze' and stream.identifier not in made
            and not (driver_facts() and is_registered('bronze.' ~ stream.identifier))
            and stream.config.meta and stream.config.meta.ingest -%}
            {%- do register_empty_stream(stream) -%}
        {%- endif -%}
    {%- endfor -%}
{%- endmacro %}
