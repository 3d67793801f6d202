{#-
    Statement that deletes the rows that are older than the newest truncate event.

    A merge, because Delta's DELETE supports no subquery.
-#}
{% macro empty_rows(plan) -%}
    merge into {{ plan.target }} as old
    using {{ emptied_rows(plan) }}
    when matched then delete
{%- endmacro %}
