{#-
    Fail where the model reads one changing table and gives rows whose key is none of those that
    changed there: then its column is another one than the table's of that name, and rows that are
    gone would be looked for by the wrong values.
-#}
{% macro check_own_keys(source) -%}
    {%- set feeds = feeds_in(compiled_code) -%}
    {%- set spans = modules.re.findall('/\\* read \\*/', compiled_code) -%}
    {%- if feeds | length == 1 and spans | length == 1 -%}
        {%- set feed = feeds[0] -%}
        {%- set theirs = [feed.key] if feed.key else key_of(feed.table) -%}
        {%- set own = [feed.own_key] if feed.key else theirs -%}
        {%- set equal = [] -%}
        {%- for name in theirs -%}
            {%- do equal.append('new.' ~ column_sql(own[loop.index0]) ~ ' <=> changed.' ~ column_sql(name)) -%}
        {%- endfor -%}
        {%- set strange = run_query(
            'select 1 from ' ~ source ~ ' as new left anti join '
            ~ changes_since(feed.table, feed.mark, feed.newest) ~ ' as changed on '
            ~ equal | join(' and ') ~ ' limit 1'
        ).rows -%}
        {%- if strange -%}
            {%- do exceptions.raise_compiler_error(
                this ~ ': its column ' ~ own | join(', ') ~ ' has values that ' ~ theirs | join(', ') ~ ' of '
                ~ feed.table ~ ' does not have, so that rows that are gone there cannot be found by it; '
                ~ ("name the column in unread_keys(…, own_key='…')" if feed.key
                    else 'give the key as it is there')
            ) -%}
        {%- endif -%}
    {%- endif -%}
{%- endmacro %}
