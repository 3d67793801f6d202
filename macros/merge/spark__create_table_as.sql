{#-
    dbt-spark's statement; before an incremental model's first or full build, its keys are looked at.
-#}
{% macro spark__create_table_as(temporary, relation, compiled_code, language='sql') -%}
    {%- if not temporary and config.get('materialized') == 'incremental' -%}
        {%- do check_first_keys(compiled_code) -%}
    {%- endif -%}
    {{ dbt.spark__create_table_as(temporary, relation, compiled_code, language) }}
{%- endmacro %}
