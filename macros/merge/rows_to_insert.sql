{#-
    Query: rows in the order of a table's columns, null in one that the model no longer selects.
-#}
{% macro rows_to_insert(source, target) -%}
    {%- set given = bare_names(input_columns(source)) -%}
    select
    {%- for column in adapter.get_columns_in_relation(target) %}
        {{ column.quoted if column.name | lower in given else 'null' }}{{ ',' if not loop.last }}
    {%- endfor %}
    from {{ source }}
{%- endmacro %}
