{#-
    Return the columns that identify the rows of a model's table, from its configuration; empty if
    it names none.
-#}
{% macro key_of(table) -%}
    {%- for node in graph.nodes.values()
        if node.resource_type == 'model' and table in (place_of(node) | string, place_of(node, true) | string) -%}
        {%- if node.config.materialized != 'apply_changes' -%}
            {{- return(key_columns(node.config.unique_key)) -}}
        {%- endif -%}
        {{- return(key_columns(model_option('keys', node=node)) + (
            [model_option('start_column', '__START_AT', node)]
            if model_option('stored_as_scd_type', node=node) | string == '2' else []
        )) -}}
    {%- endfor -%}
    {{- return([]) -}}
{%- endmacro %}
