{#-
    Replace a Delta seed's table in place.

    dbt-spark drops the table first; after a drop, the files of a table that was registered by its
    folder stay, and no table can be created over them.
-#}
{% macro spark__reset_csv_table(model, full_refresh, old_relation, agate_table) -%}
    {%- if old_relation and not (old_relation.is_delta and config.get('file_format') == 'delta') -%}
        {%- do adapter.drop_relation(old_relation) -%}
    {%- endif -%}
    {{- return(create_csv_table(model, agate_table)) -}}
{%- endmacro %}
