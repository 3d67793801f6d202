{#-
    Return what a merge must know of its input, in one query: {rows: how many, nulls: key columns
    that have nulls, bounds: by column a condition on the table}. Fails if a key comes twice.

    Bounds are literals: the least and greatest values of the `merge_bounds` columns. A column gets
    no bound if the input has a null in it, because its row may be anywhere in the table. This query
    caches the input on disk if the merge does not cache it itself (`cached_input`).
-#}
{% macro profile_merge_input(source, keys) -%}
    {%- set columns = bounded_columns(keys) -%}
    {%- set facts = {'rows': none, 'nulls': [], 'bounds': {}} -%}
    {%- if not keys and not columns -%}{{- return(facts) -}}{%- endif -%}
    {%- set parts = ['count(*)', 'count(distinct struct(' ~ keys | join(', ') ~ '))' if keys else 'count(*)'] -%}
    {%- for key in keys -%}{%- do parts.append('count_if(' ~ key ~ ' is null)') -%}{%- endfor -%}
    {%- for column in columns -%}{%- do parts.extend(range_parts(column)) -%}{%- endfor -%}
    {%- if cached_input() -%}
        {%- do run_query('cache lazy table ' ~ source ~ " options ('storageLevel' = 'DISK_ONLY')") -%}
    {%- endif -%}
    {%- set found = texts_of(parts, source) -%}
    {%- do facts.update({'rows': found[0] | int}) -%}
    {%- if found[0] != found[1] -%}{%- do fail_on_repeated_key(source, keys) -%}{%- endif -%}
    {%- for key in keys -%}
        {%- if found[2 + loop.index0] != '0' -%}{%- do facts.nulls.append(key) -%}{%- endif -%}
    {%- endfor -%}
    {%- for column in columns -%}
        {%- set begin = 2 + keys | length + loop.index0 * 4 -%}
        {%- do facts.bounds.update({column: range_condition(column, found[begin:begin + 4])}) -%}
    {%- endfor -%}
    {{- return(facts) -}}
{%- endmacro %}
