{#-
    Return the newest batch in `relation`, looked up once per invocation; -1 if the relation is
    empty.

    For a table that dbt built, the number comes from its recorded watermarks, at no cost. For other
    tables, the table's version shows whether the recorded number is still valid (a few hundredths
    of a second); if not, the statistics of its files are queried. For a view, numbers that one of
    its tables has not recorded do not count.
-#}
{% macro newest_batch(relation, column) -%}
    {%- set cache = invocation_cache() -%}
    {%- set name = relation | string -%}
    {%- set known = name if column == '_batch_id' else name ~ ' ' ~ column -%}
    {%- if known not in cache.newest -%}
        {%- set own = {} -%}
        {%- for read, batch in recorded_watermarks(relation).items() if '@' not in read -%}
            {%- do own.update({read: batch}) -%}
        {%- endfor -%}
        {%- if column == '_build_id' and name in own -%}
            {%- do cache.newest.update({known: own[name]}) -%}
        {%- elif own | length == 1 and name not in own -%}
            {%- do cache.newest.update({known: own.values() | first}) -%}
        {%- else -%}
            {%- do check_one_counter(relation, column) -%}
            {%- set numbers = [look_up_newest_batch(cache, relation, column)] -%}
            {%- for table in counted_tables(relation) if recorded_watermarks(table) -%}
                {%- do numbers.append(newest_batch(table, column)) -%}
            {%- endfor -%}
            {%- do cache.newest.update({known: numbers | min}) -%}
        {%- endif -%}
    {%- endif -%}
    {{- return(cache.newest[known]) -}}
{%- endmacro %}
