{#-
    Return why a merge cannot follow updated or deleted rows of a change data feed, with the remedy;
    an empty text if it can.

    With `incremental_filter` it can if each row of the model is made from one upstream row: the
    model's key has all key columns of the upstream table, and it reads no other table in this way,
    whose keys may have the same name. `joined` and `sessions` must read the table itself.
-#}
{% macro merge_problem(feed, keys) -%}
    {%- set lower = bare_names(keys) -%}
    {%- set theirs = bare_names(key_of(feed.table)) -%}
    {%- set others = [] -%}
    {%- for name in watermarks_in_sql(compiled_code) if '@' not in name and name != feed.relation -%}
        {%- do others.append(name) -%}
    {%- endfor -%}
    {%- if not keys -%}
        {{- return('the model has no unique_key to find them by; use replace_where with affected_partitions()') -}}
    {%- elif not has_clause(['matched']) -%}
        {{- return(
            'merge without a clause for matched keeps the first copy of a row; add one' if model_option('merge')
            else 'skip_matched_step keeps the first copy of a row; leave it out'
        ) -}}
    {%- elif feed.by == 'changes_of' and feed.relation != feed.table -%}
        {{- return('the view ' ~ feed.relation ~ ' does not show what they were; read the table itself') -}}
    {%- elif feed.by == 'incremental_filter' and others -%}
        {{- return(
            'the model reads ' ~ others | join(', ') ~ ', too, so that unique_key ' ~ keys | join(', ')
            ~ ' does not identify the table that a row is made from; use changed_keys(), or a model for each table'
        ) -}}
    {%- elif feed.by == 'incremental_filter' and (not theirs or theirs | reject('in', lower) | list) -%}
        {{- return(
            'unique_key ' ~ keys | join(', ') ~ ' does not have all columns of its key'
            ~ (' (' ~ theirs | join(', ') ~ ')' if theirs) ~ ', so that incremental_filter() does not find the rows '
            ~ 'made from them; use changed_keys(), or replace_where with affected_partitions()'
        ) -}}
    {%- endif -%}
    {{- return('') -}}
{%- endmacro %}
