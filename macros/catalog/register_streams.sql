{#-
    Register every table that `ingest` has created, and create an empty view for every other
    declared stream, so that a project builds before the first batch.

    A view, because no table has two writers: the stream's first batch creates the table.
-#}
{% macro register_streams() -%}
    {%- do adapter.create_schema(api.Relation.create(schema='bronze')) -%}
    {%- set made = {} -%}
    {%- set listed = driver_state().tables if driver_state()
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
        {#- The driver's list may be older than the table, if another dbt registered it. -#}
        {%- if stream.schema == 'bronze' and stream.identifier not in made
            and not (driver_state() and is_registered('bronze.' ~ stream.identifier))
            and stream.config.meta and stream.config.meta.ingest -%}
            {%- do register_empty_stream(stream) -%}
        {%- endif -%}
    {%- endfor -%}
{%- endmacro %}
