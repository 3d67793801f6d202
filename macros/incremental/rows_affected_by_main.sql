{#-
    What Delta says of the write: `num_affected_rows`, or none where it says nothing.
-#}
{% macro rows_affected_by_main() -%}
    {%- set result = load_result('main') -%}
    {%- if result and result.table and 'num_affected_rows' in result.table.column_names
        and result.table.rows | length == 1 -%}
        {{- return(result.table.columns['num_affected_rows'].values()[0] | int) -}}
    {%- endif -%}
    {{- return(none) -}}
{%- endmacro %}
