{#-
    Fail if rows of an upstream table were updated or inserted with a batch number that the model
    has already read: `incremental_filter` does not select them, and the model would keep outdated
    rows or lose new ones.
-#}
{% macro check_missed_changes(feed) -%}
    {%- set table = api.Relation.create(
        schema=feed.table.split('.')[0], identifier=feed.table.split('.')[1]
    ) -%}
    {%- set names = adapter.get_columns_in_relation(table) | map(attribute='name') | list -%}
    {%- if feed.by == 'incremental_filter' and feed.counter in names -%}
        {%- if run_query(
            'select 1 from ' ~ changes_since(feed.table, feed.watermark, feed.newest)
            ~ " where _change_type in ('update_postimage', 'insert') and "
            ~ feed.counter ~ ' <= ' ~ feed.batch ~ ' limit 1'
        ).rows -%}
            {%- do exceptions.raise_compiler_error(
                this ~ ': rows of ' ~ feed.table ~ ' changed without a higher ' ~ feed.counter
                ~ ', so that incremental_filter() does not select them; use changed_keys(), or select '
                ~ 'build_id() as _build_id in that model; or build with --full-refresh --select ' ~ model.name
            ) -%}
        {%- endif -%}
    {%- endif -%}
{%- endmacro %}
