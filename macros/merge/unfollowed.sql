{#-
    Why a merge cannot follow rows that a feed tells of, with the remedy; nothing where it can.

    By `unread` it can where each row of the model is made of one row of the table below: where
    its key has all columns of the key there. By `unread_keys` where the model has the column.
-#}
{% macro unfollowed(feed, keys, names) -%}
    {%- set lower = keys | map('lower') | list -%}
    {%- set theirs = key_of(feed.table) -%}
    {%- if not keys -%}
        {{- return('the model has no unique_key to find them by; use replace_where with touched()') -}}
    {%- elif config.get('skip_matched_step') -%}
        {{- return('skip_matched_step keeps the first copy of a row; leave it out') -}}
    {%- elif feed.by == 'touched' -%}
        {{- return('a merge keeps rows of values that are gone; use replace_where with touched()') -}}
    {%- elif feed.by == 'unread_keys' and feed.key | lower not in names -%}
        {{- return('the model has no column ' ~ feed.key ~ ' to find them by; select it') -}}
    {%- elif feed.by == 'unread' and (not theirs or theirs | map('lower') | reject('in', lower) | list) -%}
        {{- return(
            'unique_key ' ~ keys | join(', ') ~ ' does not have all of its key'
            ~ (' (' ~ theirs | join(', ') ~ ')' if theirs) ~ ', so that unread() does not say which rows '
            ~ 'are made of them; use unread_keys(), or replace_where with touched()'
        ) -}}
    {%- endif -%}
    {{- return('') -}}
{%- endmacro %}
