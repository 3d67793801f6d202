{#-
    Return the relation that a node's name stands for: its own or, of a deferred one (`--defer`),
    that of the other environment.
-#}
{% macro place_of(node, is_deferred=false) -%}
    {%- set place = (node.defer_relation if is_deferred else none) or node -%}
    {{- return(api.Relation.create(schema=place.schema, identifier=place.identifier or place.alias)) -}}
{%- endmacro %}
