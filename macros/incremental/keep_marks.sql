{#-
    Keep what is recorded for the next invocation of this process, whose `ops.model_marks` is then
    as this one has left it, unless somebody else has written to it.
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
