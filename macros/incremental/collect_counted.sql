{#-
    Append to `into` the numbered tables that a view reads (`counted_tables`).
-#}
{% macro collect_counted(view, into, is_deferred=false) -%}
    {%- for parent_id in view.depends_on.nodes -%}
        {%- set parent = graph.sources.get(parent_id) or graph.nodes.get(parent_id) -%}
        {%- set kind = parent.config.materialized if parent and parent.resource_type == 'model' else none -%}
        {%- if kind in ('view', 'ephemeral') -%}
            {%- do collect_counted(parent, into, is_deferred) -%}
        {%- elif parent and (kind in ('incremental', 'apply_changes')
            or parent.resource_type == 'source' and parent.schema == 'bronze') -%}
            {%- do into.append(place_of(parent, is_deferred)) -%}
        {%- endif -%}
    {%- endfor -%}
{%- endmacro %}
