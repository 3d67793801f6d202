{#-
    Query: one row that counts the effects of changes on an SCD 1 table (`count_effects`).
-#}
{% macro count_row_effects(plan, effects) -%}
    select
        count_if(__effect = 'upsert') as upserted,
        count_if(__effect = 'delete') as deleted,
        0 as closed,
        count_if(__effect = 'late') as late,
        coalesce(sum(__tied), 0) as tied,
        0 as unshown,
        count_if(__effect in ('upsert', 'delete') and not __is_there) as inserted,
        {{ plan.level or 'count_if(__is_level)' }} as level
    from ({{ effects }})
{%- endmacro %}
