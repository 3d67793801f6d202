{#-
    Release the claim of this command on its models.
-#}
{% macro release_models() -%}
    {%- if execute and models_to_claim() -%}
        {%- do graph.update({'headwater_claim': none}) -%}
        {%- do run_query(
            'drop view if exists global_temp.headwater_claim_' ~ invocation_id | replace('-', '_')
        ) -%}
    {%- endif -%}
{%- endmacro %}
