{#-
    Return the SQL statement of an incremental strategy: Headwater's for `replace_where` and
    `microbatch`, dbt-spark's for all others.

    Fails if a strategy other than `merge` would have to find rows that were made from rows updated
    or deleted upstream.
-#}
{% macro dbt_spark_get_incremental_sql(
    strategy, source, target, existing, unique_key, incremental_predicates
) -%}
    {%- for feed in feeds_in_sql(compiled_code)
        if strategy != 'merge' and feed.by != 'affected_partitions' and 0 <= feed.watermark < feed.newest -%}
        {%- do check_replaced_rows(
            feed, 'incremental_strategy ' ~ strategy ~ ' does not find the rows made from them by '
            ~ feed.by ~ '(); use merge with a unique_key, or replace_where with affected_partitions()'
        ) -%}
    {%- endfor -%}
    {%- if strategy == 'insert_overwrite' and not config.get('partition_by') and watermarks_in_sql(compiled_code) -%}
        {%- do exceptions.raise_compiler_error(
            this ~ ': insert_overwrite without partition_by replaces all rows by those that are new; '
            ~ 'use merge with a unique_key, or replace_where with affected_partitions()'
        ) -%}
    {%- endif -%}
    {%- if strategy == 'append' or (strategy == 'merge' and not key_columns(unique_key)) -%}
        {%- do delete_unrecorded_rows(target) -%}
    {%- endif -%}
    {%- if strategy == 'replace_where' -%}
        {{ get_replace_where_sql(source, target, incremental_predicates) }}
    {%- elif strategy == 'microbatch' -%}
        {{ get_microbatch_sql(source, target) }}
    {%- else -%}
        {{ dbt.dbt_spark_get_incremental_sql(
            strategy, source, target, existing, unique_key, incremental_predicates
        ) }}
    {%- endif -%}
{%- endmacro %}
