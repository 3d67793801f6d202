{#-
    Append to `into` the changing tables of `relation`, where a node reads that relation directly or
    through views.
-#}
{% macro find_changing(node, relation, into) -%}
    {%- for parent_id in node.depends_on.nodes -%}
        {%- set parent = graph.sources.get(parent_id) or graph.nodes.get(parent_id) -%}
        {%- set name = relation.schema ~ '.' ~ relation.identifier -%}
        {%- if parent and place_of(parent) | string == name -%}
            {%- do collect_changing(parent, true, into) -%}
        {%- elif parent and place_of(parent, true) | string == name -%}
            {%- do collect_changing(parent, true, into, true) -%}
        {%- elif parent and parent.config.materialized in ('view', 'ephemeral') -%}
            {%- do find_changing(parent, relation, into) -%}
        {%- endif -%}
    {%- endfor -%}
{%- endmacro %}
