{#-
    The feeds that a model's text reads, from the markers that `unread`, `unread_keys` and
    `touched` left: {table, relation, mark, newest, by, key, own_key, counter, batch}. `relation`
    is the table or a view on it, and `by` the macro. `key` is the column of `unread_keys`, and
    `own_key` that of the model; `counter` is the column of `unread`, and `batch` the model's mark.
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
