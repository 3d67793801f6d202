{#-
    Keep the recorded watermarks in this process, so that its next invocation need not read
    `ops.model_marks`.

    Only for a dbt that runs inside `ingest serve`, and only if all builds succeeded. The copy is
    valid as long as no other writer has changed the table: its version is stored with it.
-#}
{% macro cache_watermarks(results, has_written) -%}
    {%- set cache = invocation_cache() -%}
    {%- set succeeded = results
        | selectattr('status', 'equalto', 'success')
        | map(attribute='node.unique_id') | list -%}
    {%- set lost = cache.built.keys() | reject('in', succeeded) | list -%}
    {%- if driver_state() and not lost -%}
        {%- for build in cache.built.values() if build.watermarks -%}
            {%- do cache.codes.update({build.model: build.code}) -%}
        {%- endfor -%}
        {%- do graph.update({'headwater_watermarks': {
            'version': driver_state().watermarks_version + (1 if has_written else 0),
            'watermarks': cache.watermarks,
            'codes': cache.codes,
            'versions': cache.versions,
        }}) -%}
    {%- endif -%}
{%- endmacro %}
