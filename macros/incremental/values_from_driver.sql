{#-
    Return the type of a column and its values in a range of batches, in the form of `values_in`,
    read without Spark by the `ingest serve` that runs this dbt; none if it cannot read them.
-#}
{% macro values_from_driver(column, relation, counter, batches) -%}
    {%- if driver_state() -%}
        {#- A view may have replaced a table whose folder still exists. -#}
        {%- set known = adapter.get_relation(none, relation.schema, relation.identifier) -%}
        {%- if known and known.is_delta -%}
            {{- return(driver_state().affected_values(
                [relation.schema, relation.identifier], column, counter, batches
            )) -}}
        {%- endif -%}
    {%- endif -%}
    {{- return(none) -}}
{%- endmacro %}
