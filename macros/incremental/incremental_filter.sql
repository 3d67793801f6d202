{#-
    Incremental filter: SQL condition for the rows of `relation` that this model has not merged yet.

    `column` is `_batch_id` by default, or `_build_id` if the relation is built from several others.
    `event_type` limits the filter to one event type of a stream: where types have tables of their
    own, tables of other types may lag.

    A table's batch numbers come from the one query that writes it and never decrease, so rows above
    the watermark are exactly the new ones. The watermark is recorded after the write: a build after
    a killed one reads the same batches again, and a merge makes that harmless. The upper bound
    makes all reads of one build see the same rows, also while the stream runs.

    Updated or deleted rows have no batch of their own: the marker comments of their change data
    feeds let the merge find them (`removed_rows`).
-#}
{% macro incremental_filter(relation, column='_batch_id', event_type=none) -%}
    {%- do check_arguments(
        'incremental_filter()', {'relation': relation, 'column': column, 'event_type': event_type}, kwargs, varargs
    ) -%}
    {%- if not execute or not uses_watermarks() -%}
        true
    {%- else -%}
        {%- set feeds = upstream_feeds(relation, column) -%}
        {%- do check_lost_changes(feeds, 'incremental_filter()') -%}
        {{ batch_filter(relation, column, event_type) }}
        {{ feed_markers(feeds) }} /* end */
    {%- endif -%}
{%- endmacro %}
