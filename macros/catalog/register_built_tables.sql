{#-
    Tables that dbt built and the catalog no longer knows, found again by their folders.

    So a lost catalog costs no rebuild. The lake is listed only when something is missing:
    a new model, a fresh clone, or a new catalog; in a process that goes on building, once for each.
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
    {%- set looked_for = graph.get('headwater_looked_for', []) if driver_facts() else [] -%}
    {%- if missing.keys() | reject('in', looked_for) | list -%}
        {%- for folder in delta_folders(missing.values()) if folder in missing -%}
            {%- do log(folder ~ ': registered again', info=true) -%}
            {#- dbt makes the schemas of what it is to build, which may be less. -#}
            {%- do adapter.create_schema(api.Relation.create(schema=missing[folder].schema)) -%}
            {%- do register_table(missing[folder].schema, missing[folder].alias) -%}
        {%- endfor -%}
        {%- do graph.update({'headwater_looked_for': missing.keys() | list}) -%}
    {%- endif -%}
{%- endmacro %}
