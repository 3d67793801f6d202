{#-
    Whether rows may have been replaced or removed whose values before that cannot be read: no
    feed tells of them, or the relation is a view, of which only the table below has a feed.
-#}
{% macro lacks_old_values(feeds) -%}
    {%- for feed in feeds -%}
        {%- if feed.is_lost or (feed.is_feed and feed.mark < 0) -%}
            {{- return(true) -}}
        {%- elif feed.is_feed and not feed.is_direct and feed.mark < feed.newest
            and has_replaced_rows(feed.table, feed.mark, feed.newest) -%}
            {{- return(true) -}}
        {%- endif -%}
    {%- endfor -%}
    {{- return(false) -}}
{%- endmacro %}
