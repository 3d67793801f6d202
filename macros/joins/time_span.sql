{#-
    Return the least `least` and the greatest `greatest` of a query as literals, [none, none] if it
    has none. They are dates or timestamps.
-#}
{% macro time_span(query) -%}
    {%- if is_up_to_date(watermarks_in_sql(query)) -%}
        {{- return([none, none]) -}}
    {%- endif -%}
    {%- set found = run_query(
        'select cast(min(cast(least as timestamp)) as string) as least, '
        ~ 'cast(max(cast(greatest as timestamp)) as string) as greatest from (' ~ query ~ ')'
    ).rows[0] -%}
    {%- if found['least'] is none -%}
        {{- return([none, none]) -}}
    {%- endif -%}
    {{- return([typed_literal('timestamp', found['least']), typed_literal('timestamp', found['greatest'])]) -}}
{%- endmacro %}
