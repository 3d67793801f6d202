{#-
    dbt-spark's statement; before the first build or a full refresh of an incremental model, it
    leaves out rows that a merge would not insert, and checks that keys are unique and that later
    builds will find their rows. A Python model is run first.
-#}
{% macro spark__create_table_as(temporary, relation, compiled_code, language='sql') -%}
    {%- set text = compiled_code -%}
    {%- if is_python_model() -%}
        {%- set compiled_code = run_python_model(compiled_code) -%}
    {%- endif -%}
    {%- set compiled_code = modules.re.sub(';\\s*$', '', compiled_code) -%}
    {%- if not temporary and config.get('materialized') == 'incremental' -%}
        {%- set compiled_code = inserted_rows(compiled_code) -%}
        {%- do check_later_builds(compiled_code, text) -%}
        {%- do check_first_keys(compiled_code, text) -%}
    {%- endif -%}
    {{ dbt.spark__create_table_as(temporary, relation, compiled_code) }}
{%- endmacro %}
