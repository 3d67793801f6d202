{#-
    Return the newest version of a table, looked up once per invocation; -1 for a relation that is
    not a Delta table.
-#}
{% macro newest_version(relation) -%}
    {%- set memory = build_memory() -%}
    {%- set name = relation ~ '@version' -%}
    {%- if name not in memory.newest -%}
        {%- set known = adapter.get_relation(none, relation.schema, relation.identifier) -%}
        {%- do memory.newest.update({
            name: last_commit(relation).version | int if known and known.is_delta else -1
        }) -%}
    {%- endif -%}
    {{- return(memory.newest[name]) -}}
{%- endmacro %}
