{#-
    Path of a Delta table's newest commit: names of files are listed, and nothing of the table is
    read, which a build that needs nothing else of it would notice.
-#}
{% macro newest_commit(schema_name, name) -%}
    {%- set pattern = '${spark.sql.warehouse.dir}/' ~ schema_name ~ '/' ~ name ~ '/_delta_log/*.json' -%}
    {{- return(
        run_query('select max(path) from binaryFile.`' ~ pattern ~ '`').columns[0].values()[0]
    ) -}}
{%- endmacro %}
