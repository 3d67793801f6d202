{#-
    The change data feed of a table: its name and how far it is, a version of the table; none
    where it has no feed.

    A table that dbt built knows both from its own record, as it knows its newest batch: a build
    that was killed may have written more, which is read once it is repeated.
-#}
{% macro feed_of(relation) -%}
    {%- set memory = build_memory() -%}
    {%- set table = relation | string -%}
    {%- for name, version in feed_marks(recorded_marks(relation), table).items() -%}
        {{- return({'name': name, 'version': version}) -}}
    {%- endfor -%}
    {%- if table not in memory.feeds -%}
        {%- set properties = run_query('show tblproperties ' ~ relation).rows -%}
        {%- set found = properties | selectattr(0, 'equalto', 'headwater.feed') | map(attribute=1) | first -%}
        {%- do memory.feeds.update({
            table: {'name': table ~ '@' ~ found, 'version': last_commit(relation).version | int}
                if found else none
        }) -%}
    {%- endif -%}
    {{- return(memory.feeds[table]) -}}
{%- endmacro %}
