{#-
    Fail if rows changed that no change data feed contains: a merge would keep outdated rows.
-#}
{% macro refuse_lost(feeds, what) -%}
    {%- for feed in feeds if feed.is_lost -%}
        {%- do exceptions.raise_compiler_error(
            this ~ ': ' ~ what ~ ' cannot tell which rows of ' ~ feed.table
            ~ ' were replaced or removed since the last build'
            ~ (', because its change data feed began later; build once with ' if feed.is_feed
                else ', because it keeps no change data feed; read it without unread(), or build with ')
            ~ '--full-refresh --select ' ~ model.name
        ) -%}
    {%- endfor -%}
{%- endmacro %}
