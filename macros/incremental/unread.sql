{#-
    The rows of `relation` that this model has not merged yet, as a condition.

    Batches are numbered by the one query that writes a table and never go back, so rows
    above the mark are exactly the new ones. The mark is recorded after the write: a killed
    build reads the same batches again, and a merge makes that harmless. The upper bound
    makes all reads of one build see the same rows, also while the stream runs.

    `column` is `_batch_id`, or `_build_id` where the relation is built from several others.
    `event_type` is for readers of one type of a stream's events: where types have tables of
    their own, others need not be as far.

    Rows that are replaced or removed have no batch of their own: markers of their feeds let the
    merge find them (`remove_replaced`).
-#}
{% macro unread(relation, column='_batch_id', event_type=none) -%}
    {%- if not execute or not reads_marks() -%}
        true
    {%- else -%}
        {%- set feeds = feeds_read(relation, column) -%}
        {%- do refuse_lost(feeds, 'unread()') -%}
        {{ unread_batches(relation, column, event_type) }}
        {{ feed_markers(feeds) }} /* read */
    {%- endif -%}
{%- endmacro %}
