{#-
    dbt-spark's check of the incremental strategy's name, which also accepts dbt-databricks'
    `replace_where`.
-#}
{% macro dbt_spark_validate_get_incremental_strategy(raw_strategy, file_format) -%}
    {%- if raw_strategy == 'replace_where' and file_format == 'delta' -%}
        {{- return(raw_strategy) -}}
    {%- endif -%}
    {{- return(dbt.dbt_spark_validate_get_incremental_strategy(raw_strategy, file_format)) -}}
{%- endmacro %}
