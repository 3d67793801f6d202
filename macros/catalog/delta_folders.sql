{#-
    Return which of the nodes' folders in the lake contain a Delta table, as `schema/name`.

    Spark SQL cannot list folders; a query of file names (which reads no bytes of the files) can.
    The pattern includes an ops table, because a pattern that matches nothing is an error.
-#}
{% macro delta_folders(nodes) -%}
    {%- set pattern = '${spark.sql.warehouse.dir}/{ops,'
        ~ nodes | map(attribute='schema') | unique | join(',') ~ '}/{stream_tables,'
        ~ nodes | map(attribute='alias') | unique | join(',')
        ~ '}/_delta_log/{00000000000000000000.json,*.checkpoint*.parquet}' -%}
    {%- set query -%}
        select distinct regexp_extract(path, '([^/]+/[^/]+)/_delta_log/', 1) as folder
        from binaryFile.`{{ pattern }}`
    {%- endset -%}
    {{- return(run_query(query).columns[0].values() | list) -}}
{%- endmacro %}
