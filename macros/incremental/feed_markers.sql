{#-
    SQL comments that record up to which version a model reads change data feeds, as `unread`
    records batches; for a table without a feed, the version of the table.
-#}
{% macro feed_markers(feeds) -%}
    {%- for feed in feeds -%}
        /* unread {{ feed.name }} {{ feed.mark }} {{ feed.newest }} */ {{ '' }}
    {%- endfor -%}
{%- endmacro %}
