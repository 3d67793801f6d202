{#-
    dbt-spark's check of the incremental strategy's name, which also accepts dbt-databricks'
    `replace_where`, and names it where it refuses another.
-#}
{% macro dbt_spark_validate_get_incremental_strategy(raw_strategy, file_format) -%}
    {%- set known = ['merge', 'replace_where', 'append', 'insert_overwrite', 'microbatch'] -%}
    {%- if raw_strategy == 'replace_where' and file_format == 'delta' -%}
        {{- return(raw_strategy) -}}
    {%- elif raw_strategy not in known -%}
        {%- do exceptions.raise_compiler_error(
            this ~ ': there is no incremental_strategy ' ~ raw_strategy ~ '; there are ' ~ known | join(', ')
        ) -%}
    {%- endif -%}
    {{- return(dbt.dbt_spark_validate_get_incremental_strategy(raw_strategy, file_format)) -}}
{%- endmacro %}
