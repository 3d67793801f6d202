{#-
    Return the change data feeds that a model's compiled text reads, from the marker comments that
    `incremental_filter`, `changes_of` and `affected_partitions` render: {table, relation,
    watermark, newest, by, key, own_key, counter, batch}.

    relation  the table, or a view on it
    by        the macro that reads the feed
    key       the column that `changed_keys` selects
    own_key   the model's column with the values of `key`
    counter   the batch column of `incremental_filter`
    batch     the model's watermark in that column
-#}
{% macro feeds_in_sql(code) -%}
    {%- set feeds = [] -%}
    {%- for span in modules.re.findall('(?s)/\\* watermark .*?/\\* end \\*/', code) -%}
        {%- set keys = modules.re.findall('/\\* keys (.+?) of (.+?) \\*/', span) | first -%}
        {%- set batches = modules.re.findall('\\((\\S+) > (-?\\d+) and \\S+ <= -?\\d+\\)', span) | first -%}
        {%- set relations = modules.re.findall('/\\* watermark ([^\\s@]+) ', span) -%}
        {%- for table, watermark, newest in modules.re.findall(
            '/\\* watermark (\\S+)@(?!version )\\S+ (-?\\d+) (-?\\d+) \\*/', span
        ) -%}
            {%- do feeds.append({
                'table': table,
                'relation': relations | first or table,
                'watermark': watermark | int,
                'newest': newest | int,
                'by': 'changed_keys' if keys else 'changes_of' if '/* rows */' in span
                    else 'affected_partitions' if '/* values */' in span else 'incremental_filter',
                'key': keys[0] if keys else none,
                'own_key': keys[1] if keys else none,
                'counter': batches[0] if batches else none,
                'batch': batches[1] | int if batches else none,
            }) -%}
        {%- endfor -%}
    {%- endfor -%}
    {{- return(feeds) -}}
{%- endmacro %}
