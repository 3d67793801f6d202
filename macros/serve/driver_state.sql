{#-
    Return what the `ingest serve` that runs this dbt knows of the lake
    (ingest/serve/driver_state.py), so that no macro queries Spark for it, and its functions that
    look up and record without Spark (fast_bookkeeping.py); empty in any other dbt.
-#}
{% macro driver_state() -%}
    {{- return(graph.get('headwater_driver', {})) -}}
{%- endmacro %}
