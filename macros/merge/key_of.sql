{#-
    Return the columns that identify the rows of a model's table, from its configuration; empty if
    it names none.
-#}
{% macro key_of(table) -%}
    {%- for node in graph.nodes.values()
        if node.resource_type == 'model' and node.schema ~ '.' ~ node.alias == table -%}
        {%- if node.config.materialized != 'apply_changes' -%}
            {{- return(key_columns(node.config.unique_key)) -}}
        {%- endif -%}
        {{- return(key_columns(node.config['keys']) + (
            [node.config.start_column or '__START_AT'] if node.config.stored_as_scd_type | string == '2' else []
        )) -}}
    {%- endfor -%}
    {{- return([]) -}}
{%- endmacro %}
