{#-
    Create a view that stores a hash of its text and follows its query's columns, with the
    properties that the model configures.

    Spark's views otherwise keep the columns they were created with. Following columns and a list of
    column comments exclude each other, so a view with `persist_docs` of columns is created again in
    each build, as dbt-spark does.
-#}
{% macro spark__create_view_as(relation, sql) -%}
    {%- set lists_columns = config.persist_column_docs() -%}
    {%- set properties = configured_properties() -%}
    {%- if not lists_columns -%}
        {%- do properties.update({'headwater.code': view_fingerprint(sql)}) -%}
    {%- endif -%}
    create or replace view {{ relation }}
    {% if lists_columns %}({{ get_persist_docs_column_list(model.columns, get_columns_in_query(sql)) }}){% endif %}
    {{ comment_clause() }}
    {% if properties %}tblproperties ({{ properties_sql(properties) }}){% endif %}
    {{ 'with schema evolution' if not lists_columns }}
    {%- if config.get('contract').enforced %}
    {{ get_assert_columns_equivalent(sql) }}
    {%- endif %}
    as
    {{ sql }}
{%- endmacro %}
