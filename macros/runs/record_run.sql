{#-
    Record this invocation: every node in `ops.model_runs`, and the watermarks of each successful
    model in `ops.model_marks`.

    It runs after the models' writes, in one commit per table: a build after a killed one reads the
    same batches again. A model that is up to date has nothing to record. An invocation that has
    lost its claim on its models (`check_claim`) records nothing.
-#}
{% macro record_run(results) -%}
    {%- if execute and results and graph.get('headwater_claim_lost') != invocation_id -%}
        {%- do insert_rows('model_runs', run_rows(results)) -%}
        {%- set watermarks = watermark_rows(results) -%}
        {%- do insert_rows('model_marks', watermarks, are_stamped=true) -%}
        {%- do cache_watermarks(results, watermarks | length > 0) -%}
    {%- endif -%}
{%- endmacro %}
