{#-
    Append to `into` the tables that `changing_tables` returns: the node's table if its rows may
    change or, for a view, the tables upstream of it.
-#}
{% macro collect_changing(node, is_direct, into, is_deferred=false) -%}
    {%- if node.resource_type == 'model' and node.config.materialized in ('view', 'ephemeral') -%}
        {%- for parent_id in node.depends_on.nodes -%}
            {%- set parent = graph.sources.get(parent_id) or graph.nodes.get(parent_id) -%}
            {%- if parent -%}{%- do collect_changing(parent, false, into, is_deferred) -%}{%- endif -%}
        {%- endfor -%}
    {%- elif rows_may_change(node) -%}
        {%- do into.append({
            'relation': place_of(node, is_deferred),
            'has_feed': rows_may_change(node) == 'feed',
            'is_direct': is_direct,
        }) -%}
    {%- endif -%}
{%- endmacro %}
