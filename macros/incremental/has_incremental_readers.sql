{#-
    Return whether an incremental model reads this one, directly or through views.
-#}
{% macro has_incremental_readers(node_id) -%}
    {%- for reader in graph.nodes.values()
        if reader.resource_type == 'model' and node_id in reader.depends_on.nodes -%}
        {%- if reader.config.materialized in ('incremental', 'apply_changes')
            or (reader.config.materialized in ('view', 'ephemeral')
                and has_incremental_readers(reader.unique_id)) -%}
            {{- return(true) -}}
        {%- endif -%}
    {%- endfor -%}
    {{- return(false) -}}
{%- endmacro %}
