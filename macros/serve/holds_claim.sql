{#-
    Whether `ingest serve` has given this command its models, and has not taken them back.
-#}
{% macro holds_claim() -%}
    {%- set id = invocation_id | replace('-', '_') -%}
    {{- return(
        run_query("show views in global_temp like 'headwater_given_" ~ id ~ "'").rows | length > 0
    ) -}}
{%- endmacro %}
