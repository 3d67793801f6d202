{#-
    dbt-spark's statement of the strategy `append`, which fails where a column of the table is one
    that the model no longer selects.
-#}
{% macro get_insert_into_sql(source_relation, target_relation) -%}
    insert into table {{ target_relation }}
    {{ rows_to_insert(source_relation, target_relation) }}
{%- endmacro %}
