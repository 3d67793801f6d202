{#-
    Return the newest batch of a table; of `_batch_id`, the table's version is stored with it.

    If this process ingests the table, the number comes from the driver. Otherwise it is queried
    from the table, unless the table's version is the recorded one. The version is read first: if a
    commit comes in between, the next build queries again.
-#}
{% macro look_up_newest_batch(cache, relation, column) -%}
    {%- set name = relation | string -%}
    {%- set from_driver = driver_state().get('newest', {}).get(relation.identifier) -%}
    {%- if from_driver is not none and relation.schema == 'bronze' and column == '_batch_id' -%}
        {#- The version of the table with that batch is unknown. -#}
        {%- do cache.versions.pop(name, none) -%}
        {{- return(from_driver) -}}
    {%- endif -%}
    {%- set known = adapter.get_relation(none, relation.schema, relation.identifier) -%}
    {%- set version = none -%}
    {%- set newest = none -%}
    {%- if known and known.is_delta and column == '_batch_id' -%}
        {%- set version = table_version(relation) -%}
        {%- if cache.versions.get(name, [''])[0] == version -%}
            {%- set newest = cache.versions[name][1] -%}
        {%- endif -%}
    {%- endif -%}
    {%- if newest is none -%}
        {%- set query = 'select coalesce(max(' ~ column ~ '), -1) as newest from ' ~ relation -%}
        {%- set newest = run_query(query).columns[0].values()[0] | int -%}
    {%- endif -%}
    {%- if column == '_batch_id' -%}{%- do cache.versions.update({name: [version, newest]}) -%}{%- endif -%}
    {{- return(newest) -}}
{%- endmacro %}
