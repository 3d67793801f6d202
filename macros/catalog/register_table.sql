{#-
    Register the Delta table at its location in the lake.

    Without `columns`, the folder must contain a table; with `columns`, an empty table is created if
    there is none. A managed table could not be created over a folder that already contains one.
-#}
{% macro register_table(schema_name, name, columns=none) -%}
    {%- set location = '${spark.sql.warehouse.dir}/' ~ schema_name ~ '/' ~ name -%}
    {%- do run_query(
        'create table if not exists ' ~ schema_name ~ '.`' ~ name ~ '` '
        ~ ('(' ~ columns ~ ') ' if columns else '')
        ~ "using delta location '" ~ location ~ "'"
    ) -%}
    {%- do adapter.cache_added(api.Relation.create(
        schema=schema_name, identifier=name, type='table', is_delta=true
    )) -%}
{%- endmacro %}
