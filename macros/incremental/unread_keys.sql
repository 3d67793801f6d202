{#-
    Query: the values of column `key` in rows of `relation` that this model has not merged yet, and
    in rows that were updated or deleted since. They name the model's rows to rebuild.

    A row of the model whose key is among them and which the model does not return again is deleted
    (`remove_replaced`). `own_key` is the model's column with these values, if it has another name.
-#}
{% macro unread_keys(relation, key, own_key=none) -%}
    {%- set feeds = feeds_read(relation, '_batch_id') if execute and reads_marks() else [] -%}
    {%- set feed = feeds | selectattr('is_direct') | selectattr('is_feed') | first -%}
    {%- if not feed -%}
        select {{ key }} from {{ relation }} where {{ unread(relation) }}
    {%- else -%}
        {%- do refuse_lost(feeds, 'unread_keys()') -%}
        select {{ key }} from {{ feed_markers(feeds) }}/* keys {{ key }} of {{ own_key or key }} */
        {%- if feed.mark < 0 %} {{ relation }}
        {%- elif feed.mark == feed.newest %} (select * from {{ relation }} where false)
        {%- else %} {{ changes_since(feed.table, feed.mark, feed.newest) }}
        {%- endif %} /* read */
    {%- endif -%}
{%- endmacro %}
