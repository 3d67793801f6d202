{#-
    Why a merge cannot follow rows that a feed tells of, with the remedy; nothing where it can.

    By `unread` it can where each row of the model is made of one row of the table below: where
    its key has all columns of the key there, and more only where the model reads no other table.
    By `unread_keys` where the model has the column.
-#}
{% macro unfollowed(feed, keys, names) -%}
    {%- set lower = bare_names(keys) -%}
    {%- set theirs = bare_names(key_of(feed.table)) -%}
    {%- set others = [] -%}
    {%- for name in batches_read(compiled_code) if '@' not in name and name != feed.relation -%}
        {%- do others.append(name) -%}
    {%- endfor -%}
    {%- if not keys -%}
        {{- return('the model has no unique_key to find them by; use replace_where with touched()') -}}
    {%- elif config.get('skip_matched_step') -%}
        {{- return('skip_matched_step keeps the first copy of a row; leave it out') -}}
    {%- elif feed.by == 'unread_keys' and bare_names([feed.own_key])[0] not in names -%}
        {{- return('the model has no column ' ~ feed.own_key ~ ' to find them by; select it') -}}
    {%- elif feed.by == 'unread' and others and lower | sort != theirs | sort -%}
        {{- return(
            'the model reads ' ~ others | join(', ') ~ ', too, so that unique_key ' ~ keys | join(', ')
            ~ ' does not say of which table a row is made; use unread_keys(), or a model for each table'
        ) -}}
    {%- elif feed.by == 'unread' and (not theirs or theirs | reject('in', lower) | list) -%}
        {{- return(
            'unique_key ' ~ keys | join(', ') ~ ' does not have all of its key'
            ~ (' (' ~ theirs | join(', ') ~ ')' if theirs) ~ ', so that unread() does not say which rows '
            ~ 'are made of them; use unread_keys(), or replace_where with touched()'
        ) -}}
    {%- endif -%}
    {{- return('') -}}
{%- endmacro %}
