{#-
    Fail if `ingest serve` has given this command's models to another build. No watermark is
    recorded for what was written so far, so it is built again.

    `ingest serve` does so if it received no statement of this dbt for a while, or after a restart.
-#}
{% macro check_claim() -%}
    {%- if not holds_claim() -%}
        {%- do graph.update({'headwater_claim_lost': invocation_id}) -%}
        {%- do exceptions.raise_compiler_error(
            'ingest serve restarted, or received no statement of this dbt for a while, and builds '
            'these models itself; run again'
        ) -%}
    {%- endif -%}
{%- endmacro %}
