{#-
    The newest extract that was applied: the memory's row without keys.
-#}
{% macro newest_extract(plan) -%}
    select max(__position.s1)
    from {{ plan.memory }}
    where isnull(`{{ plan.key_columns | join('`) and isnull(`') }}`)
{%- endmacro %}
