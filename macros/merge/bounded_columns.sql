{#-
    Return the columns of `merge_bounds` that bound a merge: other than key columns only where the
    model reads no rows that may change.
-#}
{% macro bounded_columns(keys) -%}
    {%- set columns = [] -%}
    {%- for column in model_option('merge_bounds') or []
        if column in keys or not (feeds_in_sql(compiled_code) or replaced_in_sql(compiled_code)) -%}
        {%- do columns.append(column) -%}
    {%- endfor -%}
    {{- return(columns) -}}
{%- endmacro %}
