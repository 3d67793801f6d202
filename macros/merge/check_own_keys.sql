{#-
    Fail if a model that reads one changing table returns rows whose key is not among the keys that
    changed there.

    Then the model's column is not the table's column of that name, and rows deleted upstream would
    be looked up by the wrong values.
-#}
{% macro check_own_keys(source) -%}
    {%- set feeds = feeds_in_sql(compiled_code) -%}
    {%- set spans = modules.re.findall('/\\* end \\*/', compiled_code) -%}
    {%- if feeds | length == 1 and spans | length == 1 and feeds[0].by != 'changes_of' -%}
        {%- set feed = feeds[0] -%}
        {%- set theirs = [feed.key] if feed.key else key_of(feed.table) -%}
        {%- set own = [feed.own_key] if feed.key else theirs -%}
        {%- set equal = [] -%}
        {%- for name in theirs -%}
            {%- do equal.append('new.' ~ column_sql(own[loop.index0]) ~ ' <=> changed.' ~ column_sql(name)) -%}
        {%- endfor -%}
        {%- set strange = run_query(
            'select 1 from ' ~ source ~ ' as new left anti join '
            ~ changes_since(feed.table, feed.watermark, feed.newest) ~ ' as changed on '
            ~ equal | join(' and ') ~ ' limit 1'
        ).rows -%}
        {%- if strange -%}
            {%- do exceptions.raise_compiler_error(
                this ~ ': its column ' ~ own | join(', ') ~ ' has values that ' ~ theirs | join(', ') ~ ' of '
                ~ feed.table ~ ' does not have, so that it does not find the rows that were deleted there; '
                ~ ("name the column in changed_keys(…, own_key='…')" if feed.key
                    else 'select the key unchanged')
            ) -%}
        {%- endif -%}
    {%- endif -%}
{%- endmacro %}
