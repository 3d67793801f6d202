{#-
    dbt-spark's statement; a column that would be dropped is refused with the model, the column and
    what to do.
-#}
{% macro spark__alter_relation_add_remove_columns(relation, add_columns, remove_columns) -%}
    {%- if remove_columns -%}
        {%- do exceptions.raise_compiler_error(
            relation ~ ': the model no longer returns ' ~ remove_columns | map(attribute='name') | join(', ')
            ~ ', and sync_all_columns would drop it, which Delta does only with column mapping; build with '
            ~ '--full-refresh --select ' ~ model.name ~ ', or set on_schema_change to append_new_columns, '
            ~ 'which keeps it, null in new rows'
        ) -%}
    {%- endif -%}
    {{ dbt.spark__alter_relation_add_remove_columns(relation, add_columns, remove_columns) }}
{%- endmacro %}
