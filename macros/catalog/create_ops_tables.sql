{#-
    Create the `ops` tables that dbt reads and writes, if they are missing, and add columns that
    older versions lack.

    `ops.stream_tables` is written by ingest only; dbt creates it empty so that it can be read.
-#}
{% macro create_ops_tables() -%}
    {%- set counts = 'rows_upserted bigint, rows_deleted bigint, rows_closed bigint, '
        ~ 'rows_late bigint, rows_tied bigint, rows_quarantined bigint' -%}
    {%- set tables = {
        'stream_tables':
            'table_name string, stream string, kind string, created_at timestamp',
        'model_marks':
            'model string, relation string, mark bigint, version string, code string, '
            ~ 'invocation_id string, recorded_at timestamp',
        'model_runs':
            'invocation_id string, command string, node string, resource_type string, '
            ~ 'relation string, status string, message string, rows_affected bigint, '
            ~ 'seconds double, started_at timestamp, ' ~ counts,
    } -%}
    {%- do adapter.create_schema(api.Relation.create(schema='ops')) -%}
    {%- for name, columns in tables.items() -%}
        {%- set known = adapter.get_relation(none, 'ops', name) -%}
        {%- if known is none -%}
            {%- do register_table('ops', name, columns) -%}
        {%- elif name == 'model_runs' and 'rows_upserted' not in column_types(known) -%}
            {#- Created by a version that did not count effects on rows. -#}
            {%- do run_query('alter table ops.model_runs add columns (' ~ counts ~ ')') -%}
        {%- endif -%}
    {%- endfor -%}
{%- endmacro %}
