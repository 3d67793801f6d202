{#-
    Create a schema at <lake>/<schema>, where Hive would use <lake>/<schema>.db.

    The location is relative to the lake (spark.sql.warehouse.dir), so that the catalog can be
    rebuilt from the lake's folders on another machine.
-#}
{% macro spark__create_schema(relation) -%}
    {%- call statement('create_schema') -%}
        create schema if not exists {{ relation.schema }} location '{{ relation.schema }}'
    {%- endcall -%}
{%- endmacro %}
