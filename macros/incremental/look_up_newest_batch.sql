{#-
    Look up the newest batch of a table and store it in the invocation cache.

    If this process ingests the table, the number comes from the driver. Otherwise it is queried
    from the table, unless the table's version is the recorded one. The version is read first: if a
    commit comes in between, the next build queries again.
-#}
{% macro look_up_newest_batch(memory, relation, column) -%}
    {%- set name = relation | string -%}
    {%- set told = driver_facts().get('newest', {}).get(relation.identifier) -%}
    {%- if told is not none and relation.schema == 'bronze' and column == '_batch_id' -%}
        {#- The version of the table with that batch is unknown. -#}
        {%- do memory.versions.pop(name, none) -%}
        {%- do memory.newest.update({name: told}) -%}
        {{- return('') -}}
    {%- endif -%}
    {%- set known = adapter.get_relation(none, relation.schema, relation.identifier) -%}
    {%- set version = none -%}
    {%- set newest = none -%}
    {%- if known and known.is_delta -%}
        {%- set version = table_version(relation) -%}
        {%- if memory.versions.get(name, [''])[0] == version -%}
            {%- set newest = memory.versions[name][1] -%}
        {%- endif -%}
    {%- endif -%}
    {%- if newest is none -%}
        {%- set query = 'select coalesce(max(' ~ column ~ '), -1) as newest from ' ~ relation -%}
        {%- set newest = run_query(query).columns[0].values()[0] | int -%}
    {%- endif -%}
    {%- do memory.versions.update({name: [version, newest]}) -%}
    {%- do memory.newest.update({name: newest}) -%}
{%- endmacro %}
