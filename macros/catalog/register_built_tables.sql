{#-
    Register tables that dbt built and the catalog does not have, by their folders in the lake.

    A lost catalog therefore costs no rebuild. The lake is listed only if a table is missing: for a
    new model, a fresh clone or a new catalog; in a process that builds repeatedly, once per missing
    table.
-#}
{% macro register_built_tables() -%}
    {%- set missing = {} -%}
    {%- for node in graph.nodes.values()
        if node.resource_type in ('model', 'seed', 'snapshot')
        and node.config.materialized not in ('view', 'ephemeral')
        and node.config.file_format == 'delta' -%}
        {%- if adapter.get_relation(none, node.schema, node.alias) is none -%}
            {%- do missing.update({node.schema ~ '/' ~ node.alias: node}) -%}
            {%- for name in [node.alias ~ '__memory', node.alias ~ '__quarantine']
                if node.config.materialized == 'apply_changes' -%}
                {%- do missing.update({
                    node.schema ~ '/' ~ name: {'schema': node.schema, 'alias': name}
                }) -%}
            {%- endfor -%}
        {%- endif -%}
    {%- endfor -%}
    {%- set looked_for = graph.get('headwater_looked_for', []) if driver_state() else [] -%}
    {%- if missing.keys() | reject('in', looked_for) | list -%}
        {%- for folder in delta_folders(missing.values()) if folder in missing -%}
            {%- do log(folder ~ ': registered again', info=true) -%}
            {#- dbt creates only the schemas of the nodes that it builds. -#}
            {%- do adapter.create_schema(api.Relation.create(schema=missing[folder].schema)) -%}
            {%- do register_table(missing[folder].schema, missing[folder].alias) -%}
        {%- endfor -%}
        {%- do graph.update({'headwater_looked_for': missing.keys() | list}) -%}
    {%- endif -%}
{%- endmacro %}
