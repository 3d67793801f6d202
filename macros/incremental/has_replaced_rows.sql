{#-
    Return whether the change data feed of a table has updated or deleted rows between two versions,
    or rows of the change types in `kinds`.
-#}
{% macro has_replaced_rows(table, watermark, newest, kinds="'update_preimage', 'delete'") -%}
    {{- return(run_query(
        'select 1 from ' ~ changes_since(table, watermark, newest)
        ~ ' where _change_type in (' ~ kinds ~ ') limit 1'
    ).rows | length > 0) -}}
{%- endmacro %}
