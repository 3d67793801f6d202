{#-
    Return rows of `ops.model_marks` for a model whose table is to be a clone of another: `none` say
    that it has read nothing, `all` that it has read what the other one has.

    `all` is empty if the other one has read a table that this model will not read, such as one that
    is cloned, too: to that table's changes no watermark applies.
-#}
{% macro marks_of_clone(clone, original) -%}
    {%- if adapter.get_relation(none, 'ops', 'model_marks') is none -%}
        {{- return({'none': [], 'all': []}) -}}
    {%- endif -%}
    {%- set cache = invocation_cache() -%}
    {%- set tables = [] -%}
    {%- for node in (graph.nodes.values() | list) + (graph.sources.values() | list) -%}
        {%- do tables.append(node.relation_name) -%}
    {%- endfor -%}
    {%- set rows = [] -%}
    {%- set foreign = [] -%}
    {%- for read, mark in cache.watermarks.get(original | string, {}).items() -%}
        {%- set table = read.split('@')[0] -%}
        {%- if table in tables -%}
            {%- set code = cache.codes.get(original | string) -%}
            {%- do rows.append([clone | string, read, mark, none, code, invocation_id]) -%}
        {%- elif table != original | string -%}
            {%- do foreign.append(table) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return({
        'none': [[clone | string, none, none, none, none, invocation_id]]
            if rows or cache.watermarks.get(clone | string) else [],
        'all': [] if foreign else rows,
    }) -}}
{%- endmacro %}
