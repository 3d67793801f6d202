{#-
    The statement of a strategy: ours for `replace_where`, else dbt-spark's.
-#}
{% macro dbt_spark_get_incremental_sql(
    strategy, source, target, existing, unique_key, incremental_predicates
) -%}
    {%- if strategy == 'replace_where' -%}
        {{ get_replace_where_sql(source, target, incremental_predicates) }}
    {%- else -%}
        {{ dbt.dbt_spark_get_incremental_sql(
            strategy, source, target, existing, unique_key, incremental_predicates
        ) }}
    {%- endif -%}
{%- endmacro %}
