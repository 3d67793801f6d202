{#-
    Fail if a merge would change all rows that its input lacks, and the input is only what is new:
    those are nearly all rows of the table.
-#}
{% macro check_unmatched_rows() -%}
    {%- for clause in merge_clauses()
        if clause.when == 'not_matched_by_source' and not clause.condition
        and watermarks_in_sql(compiled_code) -%}
        {%- do exceptions.raise_compiler_error(
            this ~ ': not_matched_by_source without a condition would change every row that is not '
            ~ 'among the new ones; give it a condition on the table, or read the input whole'
        ) -%}
    {%- endfor -%}
{%- endmacro %}
