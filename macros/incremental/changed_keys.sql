{#-
    Query: the values of column `key` in rows of `relation` that this model has not merged yet, and
    in rows that were updated or deleted since. They name the model's rows to rebuild.

    A row of the model whose key is among them and which the model does not return again is deleted
    (`delete_replaced_rows`). `own_key` is the model's column with these values, if it has another
    name.
-#}
{% macro changed_keys(relation, key, own_key=none) -%}
    {%- set feeds = upstream_feeds(relation, '_batch_id') if execute and uses_watermarks() else [] -%}
    {%- set feed = feeds | selectattr('is_direct') | selectattr('is_feed') | first -%}
    {%- if not feed -%}
        select {{ key }} from {{ relation }} where {{ incremental_filter(relation) }}
    {%- else -%}
        {%- do check_lost_changes(feeds, 'changed_keys()') -%}
        select {{ key }} from {{ feed_markers(feeds) }}/* keys {{ key }} of {{ own_key or key }} */
        {%- if feed.watermark < 0 %} {{ relation }}
        {%- elif feed.watermark == feed.newest %} (select * from {{ relation }} where false)
        {%- else %} {{ changes_since(feed.table, feed.watermark, feed.newest) }}
        {%- endif %} /* end */
    {%- endif -%}
{%- endmacro %}
