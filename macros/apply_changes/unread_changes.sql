{#-
    A model's text, limited to what it has not read; see `unread`.

    A text that says itself what is unread stays as it is. Without `_batch_id`, or of several
    tables, everything is read each time, which changes nothing but costs; markers of feeds say
    whether rows that were read are gone.
-#}
{% macro unread_changes(code) -%}
    {%- set followed = followed_relation(model) -%}
    {%- if '/* unread ' in code or followed is none or not reads_marks() -%}
        {{- return(code) -}}
    {%- endif -%}
    {%- set columns = get_columns_in_query(code) -%}
    {%- if '_batch_id' not in columns -%}
        {%- set feeds = feeds_read(followed, '_batch_id') | selectattr('is_feed') | list -%}
        {%- do refuse_lost(feeds, 'apply_changes') -%}
        {{- return(code ~ ('\n' ~ feed_markers(feeds) ~ '/* read */' if feeds)) -}}
    {%- endif -%}
    {{- return('select * from (\n' ~ code ~ '\n) where ' ~ unread(followed)) -}}
{%- endmacro %}
