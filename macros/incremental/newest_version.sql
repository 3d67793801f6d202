{#-
    Return the newest version of a table, looked up once per invocation; -1 for a relation that is
    not a Delta table.
-#}
{% macro newest_version(relation) -%}
    {%- set cache = invocation_cache() -%}
    {%- set name = relation ~ '@version' -%}
    {%- if name not in cache.newest -%}
        {%- set known = adapter.get_relation(none, relation.schema, relation.identifier) -%}
        {%- do cache.newest.update({
            name: last_commit(relation).version | int if known and known.is_delta else -1
        }) -%}
    {%- endif -%}
    {{- return(cache.newest[name]) -}}
{%- endmacro %}
