{#-
    Markers of how far feeds are read, as `unread` leaves them of batches; of tables without one,
    their versions.
-#}
{% macro feed_markers(feeds) -%}
    {%- for feed in feeds -%}
        /* unread {{ feed.name }} {{ feed.mark }} {{ feed.newest }} */ {{ '' }}
    {%- endfor -%}
{%- endmacro %}
