{#-
    Whether a feed tells of rows that were replaced or removed between two versions; with
    `kinds`, of others.
-#}
{% macro has_replaced_rows(table, mark, newest, kinds="'update_preimage', 'delete'") -%}
    {{- return(run_query(
        'select 1 from ' ~ changes_since(table, mark, newest)
        ~ ' where _change_type in (' ~ kinds ~ ') limit 1'
    ).rows | length > 0) -}}
{%- endmacro %}
