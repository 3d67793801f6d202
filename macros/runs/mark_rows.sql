{#-
    Return one row of `ops.model_marks`, without the time, for each relation that a successful model
    has read further.
-#}
{% macro mark_rows(results) -%}
    {%- set memory = build_memory() -%}
    {%- set rows = [] -%}
    {%- for result in results
        if result.status | string == 'success' and result.node.unique_id in memory.built -%}
        {%- set build = memory.built[result.node.unique_id] -%}
        {%- for relation, mark in build.marks.items() -%}
            {%- do rows.append([
                build.model,
                relation,
                mark,
                memory.versions.get(relation, [none])[0],
                build.code,
                invocation_id,
            ]) -%}
        {%- endfor -%}
    {%- endfor -%}
    {{- return(rows) -}}
{%- endmacro %}
