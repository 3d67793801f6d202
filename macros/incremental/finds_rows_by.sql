{#-
    SQL comment that names the model's columns by which an increment will find its rows, where it
    will: the first build fails without them (`check_first_columns`).
-#}
{% macro finds_rows_by(what, columns) -%}
    {%- set strategy = config.get('incremental_strategy') -%}
    {%- if strategy == 'merge' or (strategy == 'replace_where' and not config.get('incremental_predicates')) -%}
        /* {{ what }} finds rows by {{ columns | join(', ') }} */
    {%- endif -%}
{%- endmacro %}
