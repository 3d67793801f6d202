{#-
    Return the newest batch in `relation`, looked up once per invocation; -1 if the relation is
    empty.

    For a table that dbt built, the number comes from its recorded watermarks, at no cost. For other
    tables, the table's version shows whether the recorded number is still valid (a few hundredths
    of a second); if not, the statistics of its files are queried. For a view, batches that the
    tables upstream have not recorded do not count.
-#}
{% macro newest_batch(relation, column) -%}
    {%- set cache = invocation_cache() -%}
    {%- set name = relation | string -%}
    {%- if name not in cache.newest -%}
        {%- set own = {} -%}
        {%- for read, batch in recorded_watermarks(relation).items() if '@' not in read -%}
            {%- do own.update({read: batch}) -%}
        {%- endfor -%}
        {%- if column == '_build_id' -%}
            {%- do cache.newest.update({name: own.get(name, -1)}) -%}
        {%- elif own | length == 1 and name not in own -%}
            {%- do cache.newest.update({name: own.values() | first}) -%}
        {%- else -%}
            {%- do look_up_newest_batch(cache, relation, column) -%}
            {%- set below = [] -%}
            {%- for table in changing_tables(relation) if not table.is_direct and table.has_feed -%}
                {%- do below.append(newest_batch(table.relation, column)) -%}
            {%- endfor -%}
            {%- if below -%}
                {%- do cache.newest.update({name: [cache.newest[name], below | max] | min}) -%}
            {%- endif -%}
        {%- endif -%}
    {%- endif -%}
    {{- return(cache.newest[name]) -}}
{%- endmacro %}
