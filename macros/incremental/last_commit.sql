{#-
    What the newest commit of a Delta table says of itself, with its version.
-#}
{% macro last_commit(relation) -%}
    {%- set commit = driver_facts().last_commit(relation.schema, relation.identifier)
        if driver_facts() else none -%}
    {{- return(commit or run_query('describe history ' ~ relation ~ ' limit 1').rows[0]) -}}
{%- endmacro %}
