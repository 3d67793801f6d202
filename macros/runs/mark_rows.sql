{#-
    One row of `ops.model_marks` for each relation that a model has read further.
-#}
{% macro mark_rows(results) -%}
    {%- set memory = build_memory() -%}
    {%- set rows = [] -%}
    {%- for result in results
        if result.status | string == 'success' and result.node.unique_id in memory.built -%}
        {%- set build = memory.built[result.node.unique_id] -%}
        {%- for relation, mark in build.marks.items() -%}
            {%- do rows.append([
                sql_literal(build.model),
                sql_literal(relation),
                mark,
                sql_literal(memory.versions.get(relation, [none])[0]),
                sql_literal(build.code),
                sql_literal(invocation_id),
                'current_timestamp()',
            ]) -%}
        {%- endfor -%}
    {%- endfor -%}
    {{- return(rows) -}}
{%- endmacro %}
