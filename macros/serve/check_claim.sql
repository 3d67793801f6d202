{#-
    Fail where `ingest serve` has given this command's models to another build. What was written
    so far is built again, because no mark says that it is there.

    It does so when nothing was heard of this dbt for a while, or when it was started again.
-#}
{% macro check_claim() -%}
    {%- if not holds_claim() -%}
        {%- do graph.update({'headwater_claim_lost': invocation_id}) -%}
        {%- do exceptions.raise_compiler_error(
            'ingest serve has not heard of this dbt for a while, or was started again, and builds '
            'these models itself; run again'
        ) -%}
    {%- endif -%}
{%- endmacro %}
