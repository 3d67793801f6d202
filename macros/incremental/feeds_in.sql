{#-
    Return the change data feeds that a model's compiled text reads, from the marker comments that
    `unread`, `unread_keys` and `touched` render: {table, relation, mark, newest, by, key, own_key,
    counter, batch}.

    relation  the table, or a view on it
    by        the macro that reads the feed
    key       the column that `unread_keys` selects
    own_key   the model's column with the values of `key`
    counter   the batch column of `unread`
    batch     the model's watermark in that column
-#}
{% macro feeds_in(code) -%}
    {%- set feeds = [] -%}
    {%- for span in modules.re.findall('(?s)/\\* unread .*?/\\* read \\*/', code) -%}
        {%- set keys = modules.re.findall('/\\* keys (.+?) of (.+?) \\*/', span) | first -%}
        {%- set batches = modules.re.findall('\\((\\S+) > (-?\\d+) and \\S+ <= -?\\d+\\)', span) | first -%}
        {%- set relations = modules.re.findall('/\\* unread ([^\\s@]+) ', span) -%}
        {%- for table, mark, newest in modules.re.findall(
            '/\\* unread (\\S+)@(?!version )\\S+ (-?\\d+) (-?\\d+) \\*/', span
        ) -%}
            {%- do feeds.append({
                'table': table,
                'relation': relations | first or table,
                'mark': mark | int,
                'newest': newest | int,
                'by': 'unread_keys' if keys else 'touched' if '/* touched */' in span else 'unread',
                'key': keys[0] if keys else none,
                'own_key': keys[1] if keys else none,
                'counter': batches[0] if batches else none,
                'batch': batches[1] | int if batches else none,
            }) -%}
        {%- endfor -%}
    {%- endfor -%}
    {{- return(feeds) -}}
{%- endmacro %}
