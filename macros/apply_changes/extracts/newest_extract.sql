{#-
    Query: the newest extract that was applied, from the row of the state table that has no keys.
-#}
{% macro newest_extract(plan) -%}
    select max(__position.s1)
    from {{ plan.state_table }}
    where isnull(`{{ plan.key_columns | join('`) and isnull(`') }}`)
{%- endmacro %}
