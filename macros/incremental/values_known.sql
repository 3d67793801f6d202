{#-
    The type of a column and its values in a range of batches, as `values_in` gives them, where
    the `ingest serve` whose dbt this is can read them without Spark; else none.
-#}
{% macro values_known(column, relation, counter, batches) -%}
    {%- if driver_facts() -%}
        {#- A view may have been a table, whose folder stays. -#}
        {%- set known = adapter.get_relation(none, relation.schema, relation.identifier) -%}
        {%- if known and known.is_delta -%}
            {{- return(driver_facts().touched_values(
                [relation.schema, relation.identifier], column, counter, batches
            )) -}}
        {%- endif -%}
    {%- endif -%}
    {{- return(none) -}}
{%- endmacro %}
