{#-
    Return the name of the change data feed of this model's table, which the build is about to
    extend; none if no model reads it.

    Starts a feed on an existing table that has none. A feed that is started again has another name
    (`start_feed`), so watermarks of the old one do not count.
-#}
{% macro own_feed() -%}
    {%- if not needs_feed() or not uses_watermarks() -%}
        {{- return(none) -}}
    {%- elif not is_incremental() -%}
        {#- The name that `spark__tblproperties_clause` sets. -#}
        {{- return(this ~ '@' ~ invocation_id) -}}
    {%- endif -%}
    {%- set feed = feed_of(this) -%}
    {{- return(feed.name if feed else start_feed()) -}}
{%- endmacro %}
