{#-
    Return one row of `ops.model_runs` for each of dbt's results.
-#}
{% macro run_rows(results) -%}
    {%- set built = invocation_cache().built -%}
    {%- set rows = [] -%}
    {%- for result in results if result.node -%}
        {%- set started = result.timing
            | selectattr('name', 'equalto', 'execute')
            | map(attribute='started_at') | first -%}
        {%- set build = built.get(result.node.unique_id, {}) -%}
        {%- set affected = build.get('rows_affected') -%}
        {%- set counts = build.get('counts', {}) -%}
        {#- Exposures have no relation. -#}
        {%- do rows.append([
            invocation_id,
            flags.WHICH,
            result.node.unique_id,
            result.node.resource_type | string,
            result.node.relation_name or none,
            result.status | string,
            result.message,
            affected if affected is not none
                else (result.adapter_response or {}).get('rows_affected'),
            result.execution_time,
            started or none,
            counts.get('upserted'),
            counts.get('deleted'),
            counts.get('closed'),
            counts.get('late'),
            counts.get('tied'),
            counts.get('quarantined'),
        ]) -%}
    {%- endfor -%}
    {{- return(rows) -}}
{%- endmacro %}
