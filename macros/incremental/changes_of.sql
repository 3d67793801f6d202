{#-
    Query: `columns` of the rows of `relation` that this model has not read yet, and of rows that
    were updated or deleted since, as they were and as they are.

    columns  names in SQL, separated by commas
    reader   marker of how the model finds its own rows (`feeds_in_sql`): `keys <key> of <own key>`,
             or `rows` if a text of `replaces` finds them
-#}
{% macro changes_of(relation, columns, reader='rows') -%}
    {%- set feeds = upstream_feeds(relation, '_batch_id') if execute and uses_watermarks() else [] -%}
    {%- set feed = feeds | selectattr('is_direct') | selectattr('is_feed') | first -%}
    {%- if not feeds -%}
        select {{ columns }} from {{ relation }} where {{ incremental_filter(relation) }}
    {%- elif not feed -%}
        {%- do check_lost_changes(feeds, 'incremental_filter()') -%}
        select {{ columns }} from {{ relation }}
        where {{ batch_filter(relation, '_batch_id') }} {{ feed_markers(feeds) }} {{ '/* rows */' if reader == 'rows' }} /* end */
    {%- else -%}
        {%- do check_lost_changes(feeds, 'changed_keys()') -%}
        select {{ columns }} from {{ feed_markers(feeds) }}/* {{ reader }} */
        {%- if feed.watermark < 0 %} {{ relation }}
        {%- elif feed.watermark == feed.newest %} (select * from {{ relation }} where false)
        {%- else %} {{ changes_since(feed.table, feed.watermark, feed.newest) }}
        {%- endif %} /* end */
    {%- endif -%}
{%- endmacro %}
