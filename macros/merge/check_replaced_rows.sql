{#-
    Fail if a change data feed has updated or deleted rows that the model cannot follow.

    With a key column (`changed_keys`), fails only if no row of the table has such a key any more;
    the model rebuilds its rows of the other keys.
-#}
{% macro check_replaced_rows(feed, problem, kinds="'update_preimage', 'delete'") -%}
    {%- if feed.key -%}
        {%- set replaced = run_query(
            'select 1 from ' ~ changes_since(feed.table, feed.watermark, feed.newest) ~ ' as old left anti join '
            ~ feed.table ~ ' as new on old.' ~ column_sql(feed.key) ~ ' = new.' ~ column_sql(feed.key)
            ~ ' where old._change_type in (' ~ kinds ~ ') and old.' ~ column_sql(feed.key) ~ ' is not null limit 1'
        ).rows | length > 0 -%}
    {%- else -%}
        {%- set replaced = has_replaced_rows(feed.table, feed.watermark, feed.newest, kinds) -%}
    {%- endif -%}
    {%- if replaced -%}
        {%- do exceptions.raise_compiler_error(
            this ~ ': rows of ' ~ feed.table ~ ' were updated or deleted since the last build, '
            ~ 'and ' ~ problem ~ '; or build with --full-refresh --select ' ~ model.name
        ) -%}
    {%- endif -%}
{%- endmacro %}
