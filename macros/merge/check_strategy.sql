{#-
    Fail if a strategy would replace all rows of the table by those that are new, or append again
    the rows of keys that changed.
-#}
{% macro check_strategy(strategy, text, is_first=false) -%}
    {%- if strategy == 'insert_overwrite' and not config.get('partition_by') and watermarks_in_sql(text) -%}
        {%- do exceptions.raise_compiler_error(
            this ~ ': insert_overwrite without partition_by replaces all rows by those that are new; '
            ~ 'use merge with a unique_key, or replace_where with affected_partitions()'
        ) -%}
    {%- elif appends(strategy) and replaced_in_sql(text, is_first) -%}
        {%- do exceptions.raise_compiler_error(
            this ~ ': changed_keys() and affected_keys() give all rows of a key again, and ' ~ strategy
            ~ ' without a unique_key appends them; use merge with a unique_key'
        ) -%}
    {%- endif -%}
{%- endmacro %}
