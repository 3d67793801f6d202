{#-
    Return one row of `ops.model_marks`, without the time, for each relation that a successful model
    has read further.
-#}
{% macro watermark_rows(results) -%}
    {%- set cache = invocation_cache() -%}
    {%- set rows = [] -%}
    {%- for result in results
        if result.status | string == 'success' and result.node.unique_id in cache.built -%}
        {%- set build = cache.built[result.node.unique_id] -%}
        {%- for relation, watermark in build.watermarks.items() -%}
            {%- do rows.append([
                build.model,
                relation,
                watermark,
                cache.versions.get(relation, [none])[0],
                build.code,
                invocation_id,
            ]) -%}
        {%- endfor -%}
    {%- endfor -%}
    {{- return(rows) -}}
{%- endmacro %}
