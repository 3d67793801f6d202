{#-
    SQL expression for the query of an event type's view, over a row of `ops.event_types`: from the
    type's own table if it has a filled one, otherwise from the stream's table.
-#}
{% macro type_query() -%}
    case
        when per_type != 'tables' then query
        when table_columns is null then 'select * except (_payload) from (' || query || ')'
        else 'select ' || table_columns
            || ' from delta.`${spark.sql.warehouse.dir}/' || table_schema || '/' || table_name || '`'
    end
{%- endmacro %}
