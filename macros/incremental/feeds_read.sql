{#-
    The change data feeds that tell what changed in `relation` since the model's last build:
    {name, table, mark, newest, is_direct, is_lost}; a mark of -1 where the model has read nothing
    of the table.

    `is_lost`: rows may have been replaced or removed of which no feed tells: it began after the
    last build, or there is none. Where the batches say that nothing is new, a model that has never
    read a feed is as far as the feed.
-#}
{% macro feeds_read(relation, counter) -%}
    {%- set marks = build_memory().marks.get(this | string, {}) if is_incremental() else {} -%}
    {%- set is_read = relation | string in marks -%}
    {%- set feeds = [] -%}
    {%- for table in changing_tables(relation) -%}
        {%- set name = table.relation | string -%}
        {%- set feed = feed_of(table.relation) if table.has_feed else none -%}
        {%- set newest = feed.version if feed else -1 -%}
        {%- set mark = marks.get(feed.name, -1) if feed else -1 -%}
        {%- set has_feed_mark = feed_marks(marks, name) | length > 0 -%}
        {%- set is_current = is_read and table.has_feed and not has_feed_mark
            and marks[relation | string] == newest_batch(relation, counter) -%}
        {%- do feeds.append({
            'name': feed.name if feed else none,
            'table': name,
            'mark': newest if is_current else mark,
            'newest': newest,
            'is_direct': table.is_direct,
            'is_lost': (is_read or has_feed_mark) and not is_current and not 0 <= mark <= newest,
        }) -%}
    {%- endfor -%}
    {{- return(feeds) -}}
{%- endmacro %}
