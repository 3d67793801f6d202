{#-
    Return the path of a Delta table's newest commit.

    It lists file names and reads nothing of the table, because reading the table would noticeably
    slow down a build that needs nothing else of it.
-#}
{% macro newest_commit(schema_name, name) -%}
    {%- set pattern = '${spark.sql.warehouse.dir}/' ~ schema_name ~ '/' ~ name ~ '/_delta_log/*.json' -%}
    {{- return(
        run_query('select max(path) from binaryFile.`' ~ pattern ~ '`').columns[0].values()[0]
    ) -}}
{%- endmacro %}
