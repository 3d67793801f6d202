{#-
    Return the one table that a model reads, directly or through views; none if there are several.

    A model can thus say `select * from {{ ref('stg_shop__customers') }}` and still read
    incrementally.
-#}
{% macro upstream_relation(node) -%}
    {%- if node.depends_on.nodes | length != 1 -%}
        {{- return(none) -}}
    {%- endif -%}
    {%- set parent_id = node.depends_on.nodes[0] -%}
    {%- set parent = graph.sources.get(parent_id) or graph.nodes[parent_id] -%}
    {%- if parent.resource_type != 'source' and parent.config.materialized in ('view', 'ephemeral') -%}
        {{- return(upstream_relation(parent)) -}}
    {%- endif -%}
    {{- return(api.Relation.create(
        schema=parent.schema, identifier=parent.identifier or parent.alias
    )) -}}
{%- endmacro %}
