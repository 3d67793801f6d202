{#-
    Return whether rows may have been updated or deleted whose previous values cannot be read: no
    change data feed contains them, or the relation is a view, and only the table upstream of it has
    a feed.
-#}
{% macro lacks_old_values(feeds) -%}
    {%- for feed in feeds -%}
        {%- if feed.is_lost or feed.watermark < 0 -%}
            {{- return(true) -}}
        {%- elif feed.is_feed and not feed.is_direct and feed.watermark < feed.newest
            and has_replaced_rows(feed.table, feed.watermark, feed.newest) -%}
            {{- return(true) -}}
        {%- endif -%}
    {%- endfor -%}
    {{- return(false) -}}
{%- endmacro %}
