{#-
    SQL comment that names the columns by which an increment of this model will find its rows: the
    first build fails without them (`check_later_builds`).
-#}
{% macro finds_rows_by(what, columns) -%}
    {%- if config.get('materialized') == 'incremental' -%}
        /* {{ what }} finds rows by {{ columns | join(', ') }} */
    {%- endif -%}
{%- endmacro %}
