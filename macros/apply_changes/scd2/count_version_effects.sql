{#-
    Query: one row that counts the effects of a timeline on an SCD 2 table (`count_effects`).
-#}
{% macro count_version_effects(plan, timeline) -%}
    select
        versions.*,
        coalesce(events.late, 0) as late,
        coalesce(events.tied, 0) as tied,
        coalesce(events.unshown, 0) as unshown,
        0 as inserted,
        0 as level
    from (
        select
            count_if(__effect in ('insert', 'update')) as upserted,
            count_if(__effect = 'delete') as deleted,
            count_if(__effect = 'close') as closed
        from ({{ changed_versions(plan, timeline) }})
    ) as versions
    cross join (
        select
            sum(if(not __is_known and __sequence < __known_until, __new, 0)) as late,
            sum(__tied) as tied,
            count_if(if(__state_position is null, __is_unshown, __state_position <> __position)) as unshown
        from {{ timeline }}
    ) as events
{%- endmacro %}
