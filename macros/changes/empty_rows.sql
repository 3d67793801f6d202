{#-
    Remove the rows that are older than the change that emptied the table.

    A merge, because Delta's DELETE knows no subquery.
-#}
{% macro empty_rows(plan) -%}
    merge into {{ plan.target }} as old
    using {{ emptied_rows(plan) }}
    when matched then delete
{%- endmacro %}
