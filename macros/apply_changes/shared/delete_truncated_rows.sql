{#-
    Statement that deletes the rows that are older than the newest truncate event. `older` is the
    source and the condition of a merge that finds them as `old`.

    A merge, because Delta's DELETE supports no subquery.
-#}
{% macro delete_truncated_rows(plan, older) -%}
    merge into {{ plan.target }} as old
    using {{ older }}
    when matched then delete
{%- endmacro %}
