{#-
    Return the columns of a relation. dbt-spark also queries a table's owner and size, which only
    `dbt docs generate` uses and for which Delta runs a job: a second, if the processors are busy.
-#}
{% macro spark__get_columns_in_relation_raw(relation) -%}
    {%- call statement('get_columns_in_relation_raw', fetch_result=true) -%}
        describe table {{ 'extended' if flags.WHICH == 'generate' }} {{ relation }}
    {%- endcall -%}
    {{- return(load_result('get_columns_in_relation_raw').table) -}}
{%- endmacro %}
