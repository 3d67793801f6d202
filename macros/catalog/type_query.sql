{#-
    SQL of the view that shows a type in the catalog, of a row of `ops.event_types`: over its own
    table, where it has one that holds something, else over the stream's.
-#}
{% macro type_query() -%}
    case
        when per_type != 'tables' then query
        when table_columns is null then 'select * except (_payload) from (' || query || ')'
        else 'select ' || table_columns
            || ' from delta.`${spark.sql.warehouse.dir}/' || table_schema || '/' || table_name || '`'
    end
{%- endmacro %}
