{#-
    One row of `ops.model_runs` for each result of dbt.
-#}
{% macro run_rows(results) -%}
    {%- set built = build_memory().built -%}
    {%- set rows = [] -%}
    {%- for result in results if result.node -%}
        {%- set started = result.timing
            | selectattr('name', 'equalto', 'execute')
            | map(attribute='started_at') | first -%}
        {%- set build = built.get(result.node.unique_id, {}) -%}
        {%- set affected = build.get('rows_affected') -%}
        {%- set counts = build.get('counts', {}) -%}
        {%- do rows.append([
            sql_literal(invocation_id),
            sql_literal(flags.WHICH),
            sql_literal(result.node.unique_id),
            sql_literal(result.node.resource_type | string),
            sql_literal(result.node.relation_name),
            sql_literal(result.status | string),
            sql_literal(result.message),
            sql_literal(affected if affected is not none
                else (result.adapter_response or {}).get('rows_affected')),
            sql_literal(result.execution_time),
            'cast(' ~ sql_literal(started.isoformat() ~ 'Z' if started else none) ~ ' as timestamp)',
            sql_literal(counts.get('upserted')),
            sql_literal(counts.get('deleted')),
            sql_literal(counts.get('closed')),
            sql_literal(counts.get('late')),
            sql_literal(counts.get('tied')),
            sql_literal(counts.get('quarantined')),
        ]) -%}
    {%- endfor -%}
    {{- return(rows) -}}
{%- endmacro %}
