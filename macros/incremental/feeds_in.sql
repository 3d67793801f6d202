{#-
    The feeds that a model's text reads, from the markers that `unread`, `unread_keys` and
    `touched` left: {table, mark, newest, by, key}; `by` is the macro, `key` the column of
    `unread_keys`.
-#}
{% macro feeds_in(code) -%}
    {%- set feeds = [] -%}
    {%- for span in modules.re.findall('(?s)/\\* unread .*?/\\* read \\*/', code) -%}
        {%- set keys = modules.re.findall('/\\* keys (.+?) \\*/', span) -%}
        {%- for table, mark, newest in modules.re.findall(
            '/\\* unread (\\S+)@\\S+ (-?\\d+) (-?\\d+) \\*/', span
        ) -%}
            {%- do feeds.append({
                'table': table,
                'mark': mark | int,
                'newest': newest | int,
                'by': 'unread_keys' if keys else 'touched' if '/* touched */' in span else 'unread',
                'key': keys | first,
            }) -%}
        {%- endfor -%}
    {%- endfor -%}
    {{- return(feeds) -}}
{%- endmacro %}
