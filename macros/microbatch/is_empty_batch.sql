{#-
    Return whether a batch of a microbatch model has no rows, neither in the model's inputs nor in
    its table, so that building it would change nothing.

    One query finds the batches that have rows, from the first batch of the command on. An input
    without `event_time` is read whole by each batch and may bring rows to any: then batches are
    skipped only if the model says so with `skip_empty_batches`.
-#}
{% macro is_empty_batch() -%}
    {%- if config.get('incremental_strategy') != 'microbatch' or not model.get('batch') or not is_incremental() -%}
        {{- return(false) -}}
    {%- endif -%}
    {%- set inputs = [] -%}
    {%- for id in model.depends_on.nodes -%}
        {%- do inputs.append(graph.sources.get(id) or graph.nodes[id]) -%}
    {%- endfor -%}
    {%- set timed = inputs | selectattr('config.event_time') | list -%}
    {%- set skips = model_option('skip_empty_batches') -%}
    {%- if not timed or skips is false or (skips is none and timed | length < inputs | length) -%}
        {{- return(false) -}}
    {%- endif -%}
    {%- set start = batch_time(model.batch.event_time_start) -%}
    {%- set cache = invocation_cache().batches -%}
    {%- if model.unique_id not in cache or start < cache[model.unique_id].start -%}
        {%- do cache.update({
            model.unique_id: {'start': start, 'batches': batches_with_rows(timed, start)}
        }) -%}
    {%- endif -%}
    {{- return(start not in cache[model.unique_id].batches) -}}
{%- endmacro %}
