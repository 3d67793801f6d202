{#-
    SQL condition of a full build that all rows of `relation` meet; it records how far the model has
    read.
-#}
{% macro all_rows(relation) -%}
    {%- set feeds = upstream_feeds(relation, '_batch_id') if execute and uses_watermarks() else [] -%}
    {%- if feeds | selectattr('is_direct') | selectattr('is_feed') | list -%}
        {{ feed_markers(feeds) }} /* rows */ true /* end */
    {%- else -%}
        {{ incremental_filter(relation) }}
    {%- endif -%}
{%- endmacro %}
