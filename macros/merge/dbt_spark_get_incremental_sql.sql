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
    {%- do check_strategy(strategy, compiled_code) -%}
    {%- if appends(strategy) -%}
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
