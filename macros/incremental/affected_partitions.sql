{#-
    SQL condition for an aggregate: selects all rows of `relation` whose `column` has an affected
    value, one of a row that the model has not read yet, or of a row that was updated or deleted
    since. The model recomputes these values with `replace_where`.

    Affected values are literals in the text, because Delta skips files by literals only, and
    `replace_where` replaces exactly these values. If the previous values of changed rows are
    unknown, the condition selects all rows: the result is correct, at a higher cost.

    `window` is {time, size} where the model's column is the beginning of a window (`affected_windows`).
-#}
{% macro affected_partitions(column, relation, counter='_batch_id', window=none) -%}
    {%- do check_arguments(
        'affected_partitions()', {'column': column, 'relation': relation, 'counter': counter}, kwargs, varargs
    ) -%}
    {%- if not execute or not uses_watermarks() -%}
        true
    {%- else -%}
        {%- set feeds = upstream_feeds(relation, counter) -%}
        {%- set feed = feeds | selectattr('is_direct') | selectattr('is_feed') | first -%}
        {%- set batches = '' if feed else batch_filter(relation, counter) -%}
        {%- set markers = feed_markers(feeds) ~ batches.split('\n')[0] | trim -%}
        {%- do check_affected_partitions(column, relation, feeds, window) -%}
        {%- set is_replaced = config.get('incremental_strategy') == 'replace_where' and not own_predicates()
            and modules.re.match('(\\w+|`[^`]+`)$', column) -%}
        {%- set value = window_start(window.time, window.size) if window else column -%}
        {%- set found = none -%}
        {%- if not is_incremental() -%}
            {%- set values = 'true' -%}
        {%- elif lacks_old_values(feeds) -%}
            {%- do log(
                this ~ ': recomputes all rows, because no change data feed has the earlier ' ~ column
                ~ ' of changed rows of ' ~ feeds | map(attribute='table') | join(', '), info=true
            ) -%}
            {%- set values = 'true' -%}
        {%- elif is_up_to_date(watermarks_in_sql(markers)) -%}
            {%- set values = 'false' -%}
        {%- elif feed -%}
            {%- set rows = changes_since(feed.table, feed.watermark, feed.newest) -%}
            {%- set found = values_in(value, rows) -%}
        {%- else -%}
            {%- set unread = watermarks_in_sql(batches)[relation | string] -%}
            {%- set found = (values_from_driver(column, relation, counter, unread) if not window)
                or values_in(value, relation ~ ' where ' ~ batches) -%}
        {%- endif -%}
        {%- if found -%}
            {%- set replaced = values_condition(column, relation, found) -%}
            {%- set values = window_condition(window, relation, found) ~ ' /* replaces ' ~ replaced ~ ' */'
                if window else replaced -%}
        {%- endif -%}
        {{ markers }} {{ finds_rows_by('affected_partitions()', [column]) if is_replaced }} /* values */ {{ values }} /* end */
    {%- endif -%}
{%- endmacro %}
