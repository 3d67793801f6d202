{#-
    Return whether `ingest serve` has granted this command's claim and has not revoked it.
-#}
{% macro holds_claim() -%}
    {%- set id = invocation_id | replace('-', '_') -%}
    {{- return(
        run_query("show views in global_temp like 'headwater_given_" ~ id ~ "'").rows | length > 0
    ) -}}
{%- endmacro %}
