{#-
    Return the change data feed of a table: {name, version}, where `version` is the newest version
    of the table; none if the table has no feed.

    For a table that dbt built, both come from the recorded watermarks, like its newest batch. A
    build that was killed may have written more versions; downstream models read those once the
    build is repeated.
-#}
{% macro feed_of(relation) -%}
    {%- set cache = invocation_cache() -%}
    {%- set table = relation | string -%}
    {%- for name, version in feed_watermarks(recorded_watermarks(relation), table).items() -%}
        {{- return({'name': name, 'version': version}) -}}
    {%- endfor -%}
    {%- if table not in cache.feeds -%}
        {%- set properties = run_query('show tblproperties ' ~ relation).rows -%}
        {%- set found = properties | selectattr(0, 'equalto', 'headwater.feed') | map(attribute=1) | first -%}
        {%- do cache.feeds.update({
            table: {'name': table ~ '@' ~ found, 'version': last_commit(relation).version | int}
                if found else none
        }) -%}
    {%- endif -%}
    {{- return(cache.feeds[table]) -}}
{%- endmacro %}
