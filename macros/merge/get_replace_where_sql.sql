{#-
    SQL statement that replaces, in one commit, the rows that the model recomputed. Repeating it
    changes nothing.

    The rows are those of `incremental_predicates`, as in dbt-databricks, or else those with the
    values that `affected_partitions` rendered into the model's text.
-#}
{% macro get_replace_where_sql(source, target, incremental_predicates) -%}
    {%- set predicates = [] -%}
    {%- if incremental_predicates -%}
        {%- do predicates.extend(
            [incremental_predicates] if incremental_predicates is string
            else incremental_predicates
        ) -%}
    {%- else -%}
        {%- do predicates.extend(affected_conditions(compiled_code)) -%}
    {%- endif -%}
    {%- if not predicates -%}
        {%- do exceptions.raise_compiler_error(
            this ~ ': replace_where needs affected_partitions() in the model or incremental_predicates'
        ) -%}
    {%- endif -%}
    {%- set columns = adapter.get_columns_in_relation(target) -%}
    {%- if predicates == ['false'] -%}
        select 0 as num_affected_rows
    {%- else -%}
        insert into {{ target }}
        replace where {{ predicates | join(' and ' if incremental_predicates else ' or ') }}
        select {{ columns | map(attribute='quoted') | join(', ') }}
        from {{ source }}
    {%- endif -%}
{%- endmacro %}
