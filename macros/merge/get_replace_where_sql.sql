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
        {%- do predicates.extend(['false'] if flags.EMPTY else affected_conditions(compiled_code)) -%}
    {%- endif -%}
    {%- if not predicates and flags.SAMPLE -%}
        {%- do exceptions.raise_compiler_error(
            this ~ ': a sample has a part of the rows of each value, and replace_where would lose the others; '
            ~ 'sample into another lake (HEADWATER_LAKE)'
        ) -%}
    {%- elif not predicates -%}
        {%- do exceptions.raise_compiler_error(
            this ~ ': replace_where needs affected_partitions() in the model or incremental_predicates'
        ) -%}
    {%- endif -%}
    {%- if predicates == ['false'] -%}
        select 0 as num_affected_rows
    {%- else -%}
        insert into {{ target }}
        replace where {{ predicates | join(' and ' if incremental_predicates else ' or ') }}
        {{ rows_to_insert(source, target) }}
    {%- endif -%}
{%- endmacro %}
