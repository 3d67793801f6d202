{#-
    dbt-spark's table materialization, which builds a Python model as well.
-#}
{% materialization table, adapter='spark', supported_languages=['sql', 'python'] -%}
    {#- `create_table_as` turns the code into SQL. -#}
    {%- do model.update({'language': 'sql'}) -%}
    {%- set relations = dbt.materialization_table_spark() -%}
    {%- do drop_python_model_view() -%}
    {{- return(relations) -}}
{%- endmaterialization %}
