{#-
    SQL condition for an aggregate: selects all rows of `relation` whose `column` has an affected
    value, one of a row that the model has not read yet, or of a row that was updated or deleted
    since. The model recomputes these values with `replace_where`.

    Affected values are literals in the text, because Delta skips files by literals only, and
    `replace_where` replaces exactly these values. If the previous values of changed rows are
    unknown, the condition selects all rows: the result is correct, at a higher cost.
-#}
{% macro touched(column, relation, counter='_batch_id') -%}
    {%- if not execute or not reads_marks() -%}
        true
    {%- else -%}
        {%- set feeds = feeds_read(relation, counter) -%}
        {%- set feed = feeds | selectattr('is_direct') | selectattr('is_feed') | first -%}
        {%- set batches = '' if feed else unread_batches(relation, counter) -%}
        {%- set markers = feed_markers(feeds) ~ batches.split('\n')[0] | trim -%}
        {%- do check_touched(feeds) -%}
        {%- if not is_incremental() -%}
            {%- set values = 'true' -%}
        {%- elif lacks_old_values(feeds) -%}
            {%- do log(
                this ~ ': computed whole, because nothing tells which ' ~ column ~ ' rows of '
                ~ feeds | map(attribute='table') | join(', ') ~ ' had before they changed', info=true
            ) -%}
            {%- set values = 'true' -%}
        {%- elif nothing_new(batches_read(markers)) -%}
            {%- set values = 'false' -%}
        {%- elif feed -%}
            {%- set rows = changes_since(feed.table, feed.mark, feed.newest) -%}
            {%- set values = values_condition(column, relation, values_in(column, rows)) -%}
        {%- else -%}
            {%- set values = values_condition(
                column, relation,
                values_known(column, relation, counter, batches_read(batches)[relation | string])
                or values_in(column, relation ~ ' where ' ~ batches)
            ) -%}
        {%- endif -%}
        {{ markers }} /* touched */ {{ values }} /* read */
    {%- endif -%}
{%- endmacro %}
