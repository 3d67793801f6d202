{#-
    What the `ingest serve` whose own dbt this is knows of the lake (ingest/serve/facts.py), so
    that nobody asks Spark, and what it looks up and writes down without it (records.py); empty in
    any other dbt.
-#}
{% macro driver_facts() -%}
    {{- return(graph.get('headwater_driver', {})) -}}
{%- endmacro %}
