{#-
    Query: the rows of an SCD 1 table that this build creates, without deleted ones unless the table
    keeps them.
-#}
{% macro shown_rows(plan, rows) -%}
    select
        {{ column_names(plan.columns) }}
        {{- ', __deleted as is_deleted' if plan.keep_deleted }}
    from ({{ rows }})
    {{- '' if plan.keep_deleted else ' where not __deleted' }}
{%- endmacro %}
