{#-
    Record what this invocation did: every node in `ops.model_runs`, and in `ops.model_marks`
    how far each model that succeeded has read.

    After the writes, in one commit each: a build that is killed before reads the same batches
    again. A model that found nothing new has nothing to record; nor has an invocation that has
    lost its models to another one, as its own have told.
-#}
{% macro record_run(results) -%}
    {%- if execute and results and graph.get('headwater_claim_lost') != invocation_id -%}
        {%- do insert_rows('model_runs', run_rows(results)) -%}
        {%- set marks = mark_rows(results) -%}
        {%- do insert_rows('model_marks', marks, are_stamped=true) -%}
        {%- do keep_marks(results, marks | length > 0) -%}
    {%- endif -%}
{%- endmacro %}
