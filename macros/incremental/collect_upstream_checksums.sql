{#-
    Append to `into` the checksums of a node's parents and, where a parent is a view or ephemeral,
    those of its parents.
-#}
{% macro collect_upstream_checksums(node, into) -%}
    {%- for parent_id in node.depends_on.nodes if parent_id in graph.nodes -%}
        {%- set parent = graph.nodes[parent_id] -%}
        {%- if parent.checksum and parent.checksum.checksum not in into -%}
            {%- do into.append(parent.checksum.checksum) -%}
            {%- if parent.config.materialized in ('view', 'ephemeral') -%}
                {%- do collect_upstream_checksums(parent, into) -%}
            {%- endif -%}
        {%- endif -%}
    {%- endfor -%}
{%- endmacro %}
