{#-
    Return the newest commit of a Delta table from its history: version, operation and metrics.
-#}
{% macro last_commit(relation) -%}
    {%- set commit = driver_state().last_commit(relation.schema, relation.identifier)
        if driver_state() else none -%}
    {{- return(commit or run_query('describe history ' ~ relation ~ ' limit 1').rows[0]) -}}
{%- endmacro %}
