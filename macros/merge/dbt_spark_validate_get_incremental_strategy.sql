{#-
    dbt-spark's check of a strategy's name, with dbt-databricks' `replace_where` as one more.
-#}
{% macro dbt_spark_validate_get_incremental_strategy(raw_strategy, file_format) -%}
    {%- if raw_strategy == 'replace_where' and file_format == 'delta' -%}
        {{- return(raw_strategy) -}}
    {%- endif -%}
    {{- return(dbt.dbt_spark_validate_get_incremental_strategy(raw_strategy, file_format)) -}}
{%- endmacro %}
