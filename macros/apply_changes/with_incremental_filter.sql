{#-
    Return the model's text with an incremental filter (see `incremental_filter`).

    A text that already contains a filter is returned unchanged. Without `_batch_id`, or with
    several upstream tables, each build reads everything, which gives the same result at a higher
    cost; marker comments of change data feeds then show whether rows that were read have been
    deleted.
-#}
{% macro with_incremental_filter(code) -%}
    {%- set followed = upstream_relation(model) -%}
    {%- if '/* watermark ' in code or followed is none or not uses_watermarks() -%}
        {{- return(code) -}}
    {%- endif -%}
    {%- set columns = get_columns_in_query(code) -%}
    {%- if '_batch_id' not in columns -%}
        {%- set feeds = upstream_feeds(followed, '_batch_id') | selectattr('is_feed') | list -%}
        {%- do check_lost_changes(feeds, 'apply_changes') -%}
        {{- return(code ~ ('\n' ~ feed_markers(feeds) ~ '/* end */' if feeds)) -}}
    {%- endif -%}
    {{- return('select * from (\n' ~ code ~ '\n) where ' ~ incremental_filter(followed)) -}}
{%- endmacro %}
