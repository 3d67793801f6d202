{#-
    Make a Delta table known that lies at its place in the lake.

    Without columns the folder must hold a table; with columns an empty one is made where
    nothing lies. A managed table would refuse a folder that holds one already.
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
