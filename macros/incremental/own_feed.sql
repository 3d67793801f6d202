{#-
    The name of this table's change data feed, which the build is about to extend; none where no
    model reads it. A table from before there were feeds gets one here.

    A feed that begins again has another name (`start_feed`): marks of the old one do not count.
-#}
{% macro own_feed() -%}
    {%- if not needs_feed() or not reads_marks() -%}
        {{- return(none) -}}
    {%- elif not is_incremental() -%}
        {#- As `spark__tblproperties_clause` says it. -#}
        {{- return(this ~ '@' ~ invocation_id) -}}
    {%- endif -%}
    {%- set feed = feed_of(this) -%}
    {{- return(feed.name if feed else start_feed()) -}}
{%- endmacro %}
