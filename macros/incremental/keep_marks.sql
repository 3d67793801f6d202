{#-
    Keep the recorded watermarks in this process, so that its next invocation need not read
    `ops.model_marks`.

    Only for a dbt that runs inside `ingest serve`, and only if all builds succeeded. The copy is
    valid as long as no other writer has changed the table: its version is stored with it.
-#}
{% macro keep_marks(results, has_written) -%}
    {%- set memory = build_memory() -%}
    {%- set succeeded = results
        | selectattr('status', 'equalto', 'success')
        | map(attribute='node.unique_id') | list -%}
    {%- set lost = memory.built.keys() | reject('in', succeeded) | list -%}
    {%- if driver_facts() and not lost -%}
        {%- for build in memory.built.values() if build.marks -%}
            {%- do memory.codes.update({build.model: build.code}) -%}
        {%- endfor -%}
        {%- do graph.update({'headwater_marks': {
            'version': driver_facts().marks_version + (1 if has_written else 0),
            'marks': memory.marks,
            'codes': memory.codes,
            'versions': memory.versions,
        }}) -%}
    {%- endif -%}
{%- endmacro %}
