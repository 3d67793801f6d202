{#-
    Create a view that stores a hash of its text and follows its query's columns.

    Spark's views otherwise keep the columns they were created with. Following columns and a list of
    column comments exclude each other, so a view with `persist_docs` of columns is dbt-spark's
    view.
-#}
{% macro spark__create_view_as(relation, sql) -%}
    {%- if config.persist_column_docs() -%}
        {{ dbt.spark__create_view_as(relation, sql) }}
    {%- else -%}
        create or replace view {{ relation }}
        {{ comment_clause() }}
        tblproperties ('headwater.code' = '{{ view_fingerprint(sql) }}')
        with schema evolution
        {%- if config.get('contract').enforced %}
        {{ get_assert_columns_equivalent(sql) }}
        {%- endif %}
        as
        {{ sql }}
    {%- endif -%}
{%- endmacro %}
