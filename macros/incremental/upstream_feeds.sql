{#-
    Return the change data feeds of the tables upstream of `relation`, with the versions that the
    model has not read: {name, table, watermark, newest, is_direct, is_feed, is_lost}. `watermark`
    is -1 if the model has read nothing of the table. A table without a feed is listed with its own
    version, under the name `table@version`, which shows only whether the table was written.

    `is_lost` is true if rows may have been updated or deleted that no feed contains: the feed began
    after the model's last build, or the table has no feed and was written since. If the model has
    never read a feed and its batch watermark is the newest batch, it counts as up to date with the
    feed.
-#}
{% macro upstream_feeds(relation, counter) -%}
    {%- if relation is string or relation.identifier is undefined -%}
        {%- do exceptions.raise_compiler_error(
            this ~ ": a macro that reads what is new takes a relation, such as ref('app_events'), and not " ~ relation
        ) -%}
    {%- endif -%}
    {%- if relation.identifier.startswith('__dbt__cte__') -%}
        {%- do exceptions.raise_compiler_error(
            this ~ ': ' ~ relation.identifier[12:] ~ ' is ephemeral, so that its rows cannot be read in increments; '
            ~ 'make it a view'
        ) -%}
    {%- endif -%}
    {%- set watermarks = invocation_cache().watermarks.get(this | string, {}) if is_incremental() else {} -%}
    {%- set is_read = relation | string in watermarks -%}
    {%- set feeds = [] -%}
    {%- for table in changing_tables(relation) -%}
        {%- set name = table.relation | string -%}
        {%- set feed = feed_of(table.relation) if table.has_feed else none -%}
        {%- set marker = feed.name if feed else name ~ '@version' -%}
        {%- set watermark = watermarks.get(marker, -1) -%}
        {#- A relation without a version may have been written. -#}
        {%- set version = newest_version(table.relation) if not feed -%}
        {%- set newest = feed.version if feed else version if version >= 0 else watermark + 1 -%}
        {%- set has_feed_watermark = feed_watermarks(watermarks, name) | length > 0 -%}
        {%- set is_current = is_read and table.has_feed and not has_feed_watermark
            and watermarks[relation | string] == newest_batch(relation, counter) -%}
        {%- do feeds.append({
            'name': marker,
            'is_feed': feed is not none,
            'table': name,
            'watermark': newest if is_current else watermark,
            'newest': newest,
            'is_direct': table.is_direct,
            'is_lost': (is_read or has_feed_watermark) and not is_current
                and not (0 <= watermark <= newest if feed else watermark == newest),
        }) -%}
    {%- endfor -%}
    {{- return(feeds) -}}
{%- endmacro %}
