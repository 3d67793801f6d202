{#-
    Return the watermarks that a model recorded in its newest build; empty if its materialization no
    longer records builds.
-#}
{% macro recorded_watermarks(relation) -%}
    {%- set watermarks = invocation_cache().watermarks.get(relation | string, {}) -%}
    {%- if watermarks -%}
        {%- for node in graph.nodes.values()
            if node.resource_type == 'model' and node.schema == relation.schema
            and node.alias == relation.identifier
            and node.config.materialized not in ('incremental', 'apply_changes') -%}
            {{- return({}) -}}
        {%- endfor -%}
    {%- endif -%}
    {{- return(watermarks) -}}
{%- endmacro %}
