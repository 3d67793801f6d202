{#-
    Fail if rows changed that no change data feed contains: a merge would keep outdated rows.
-#}
{% macro check_lost_changes(feeds, what) -%}
    {%- for feed in feeds if feed.is_lost -%}
        {%- do exceptions.raise_compiler_error(
            this ~ ': ' ~ what ~ ' cannot determine which rows of ' ~ feed.table
            ~ ' were updated or deleted since the last build'
            ~ (', because its change data feed began later; build once with ' if feed.is_feed
                else ', because it has no change data feed; read it without incremental_filter(), or build with ')
            ~ '--full-refresh --select ' ~ model.name
        ) -%}
    {%- endfor -%}
{%- endmacro %}
