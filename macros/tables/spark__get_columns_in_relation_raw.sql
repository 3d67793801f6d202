{#-
    The columns of a relation. dbt-spark asks for a table's owner and size, too, of which only
    `dbt docs generate` makes use, and for which Delta runs a job: a second, where the processors
    are busy.
-#}
{% macro spark__get_columns_in_relation_raw(relation) -%}
    {%- call statement('get_columns_in_relation_raw', fetch_result=true) -%}
        describe table {{ 'extended' if flags.WHICH == 'generate' }} {{ relation }}
    {%- endcall -%}
    {{- return(load_result('get_columns_in_relation_raw').table) -}}
{%- endmacro %}
