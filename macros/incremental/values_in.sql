{#-
    Return the type of a column and its distinct values in some rows: texts in the order of the
    type, with none for null at the end.
-#}
{% macro values_in(column, rows) -%}
    {%- set query -%}
        select
            typeof(any_value({{ column }})) as type,
            to_json(transform(
                array_sort(collect_set({{ column }})), value -> cast(value as string)
            )) as found,
            count_if({{ column }} is null) as nulls
        from {{ rows }}
    {%- endset -%}
    {%- set row = run_query(query).rows[0] -%}
    {{- return([row['type'], fromjson(row['found']) + ([none] if row['nulls'] else [])]) -}}
{%- endmacro %}
