{#-
    Markers of how far feeds are read, as `unread` leaves them of batches.
-#}
{% macro feed_markers(feeds) -%}
    {%- for feed in feeds if feed.name -%}
        /* unread {{ feed.name }} {{ feed.mark }} {{ feed.newest }} */ {{ '' }}
    {%- endfor -%}
{%- endmacro %}
