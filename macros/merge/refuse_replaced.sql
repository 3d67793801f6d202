{#-
    Fail where a feed tells of rows that were replaced or removed, which the model cannot follow.

    Of keys that the model has no column for: where no row has such a key any more. Its own rows
    of other keys are built again.
-#}
{% macro refuse_replaced(feed, problem, kinds="'update_preimage', 'delete'") -%}
    {%- if feed.key -%}
        {%- set replaced = run_query(
            'select 1 from ' ~ changes_since(feed.table, feed.mark, feed.newest) ~ ' as old left anti join '
            ~ feed.table ~ ' as new on old.' ~ column_sql(feed.key) ~ ' = new.' ~ column_sql(feed.key)
            ~ ' where old._change_type in (' ~ kinds ~ ') and old.' ~ column_sql(feed.key) ~ ' is not null limit 1'
        ).rows | length > 0 -%}
    {%- else -%}
        {%- set replaced = has_replaced_rows(feed.table, feed.mark, feed.newest, kinds) -%}
    {%- endif -%}
    {%- if replaced -%}
        {%- do exceptions.raise_compiler_error(
            this ~ ': rows of ' ~ feed.table ~ ' were replaced or removed since the last build, '
            ~ 'and ' ~ problem ~ '; or build with --full-refresh --select ' ~ model.name
        ) -%}
    {%- endif -%}
{%- endmacro %}
