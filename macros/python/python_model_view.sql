{#-
    Return the temporary view of the rows that a Python model returns.
-#}
{% macro python_model_view() -%}
    {{- return(api.Relation.create(identifier=this.identifier ~ '__dbt_py')) -}}
{%- endmacro %}
