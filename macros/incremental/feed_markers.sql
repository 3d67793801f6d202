{#-
    SQL comments that record up to which version a model reads change data feeds, as
    `incremental_filter` records batches; for a table without a feed, the version of the table.
-#}
{% macro feed_markers(feeds) -%}
    {%- for feed in feeds -%}
        /* watermark {{ feed.name }} {{ feed.watermark }} {{ feed.newest }} */ {{ '' }}
    {%- endfor -%}
{%- endmacro %}
