{#-
    What the memory of an SCD 1 table has for keys that may have changes, and for the change that
    emptied the table: a relation of one row a key.
-#}
{% macro remembered_changes(plan) -%}
    {%- if plan.is_hidden -%}
    {{ plan.memory }}
    {%- else -%}
    (
        select {{ column_names(plan.key_columns, 'old') }}, max(old.__position) as __position
        from {{ plan.memory }} as old
        where ({{ may_have_changes(plan) }}) or old.`{{ plan.key_columns[0] }}` is null
        group by {{ column_names(plan.key_columns, 'old') }}
    )
    {%- endif -%}
{%- endmacro %}
