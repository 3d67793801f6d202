{#-
    Return why a merge cannot follow updated or deleted rows of a change data feed, with the remedy;
    an empty text if it can.

    With `unread` it can if each row of the model is made from one upstream row: the model's key has
    all key columns of the upstream table, and more only if the model reads no other table. With
    `unread_keys` it can if the model has the column `own_key`.
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
