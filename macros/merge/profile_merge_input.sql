{#-
    Return what a merge must know of its input, in one query: {nulls: key columns that have nulls,
    bounds: conditions on the table}. Fails if a key comes twice.

    Bounds are literals: the least and greatest values of the `merge_bounds` columns. A column gets
    no bound if the input has a null in it, because its row may be anywhere in the table, or if it
    is not a key column and the model reads rows that may change. This query caches the input on
    disk if the merge does not cache it itself (`cached_input`).
-#}
{% macro profile_merge_input(source, keys) -%}
    {%- set columns = [] -%}
    {%- for column in model_option('merge_bounds') or []
        if column in keys or not feeds_in_sql(compiled_code) -%}
        {%- do columns.append(column) -%}
    {%- endfor -%}
    {%- set facts = {'nulls': [], 'bounds': []} -%}
    {%- if not keys and not columns -%}{{- return(facts) -}}{%- endif -%}
    {%- set parts = ['count(*)', 'count(distinct struct(' ~ keys | join(', ') ~ '))' if keys else 'count(*)'] -%}
    {%- for key in keys -%}{%- do parts.append('count_if(' ~ key ~ ' is null)') -%}{%- endfor -%}
    {%- for column in columns -%}
        {%- do parts.extend([
            'typeof(any_value(' ~ column ~ '))',
            'min(' ~ column ~ ')',
            'max(' ~ column ~ ')',
            'count_if(' ~ column ~ ' is null)',
        ]) -%}
    {%- endfor -%}
    {%- if cached_input() -%}
        {%- do run_query('cache lazy table ' ~ source ~ " options ('storageLevel' = 'DISK_ONLY')") -%}
    {%- endif -%}
    {%- set texts = [] -%}
    {%- for part in parts -%}{%- do texts.append('cast(' ~ part ~ ' as string)') -%}{%- endfor -%}
    {%- set query = 'select to_json(array(' ~ texts | join(', ') ~ ')) as facts from ' ~ source -%}
    {%- set found = fromjson(run_query(query).columns[0].values()[0]) -%}
    {%- if found[0] != found[1] -%}{%- do fail_on_repeated_key(source, keys) -%}{%- endif -%}
    {%- for key in keys -%}
        {%- if found[2 + loop.index0] != '0' -%}{%- do facts.nulls.append(key) -%}{%- endif -%}
    {%- endfor -%}
    {%- for column in columns -%}
        {%- set begin = 2 + keys | length + loop.index0 * 4 -%}
        {%- set type, least, greatest, nulls = found[begin:begin + 4] -%}
        {%- if least and nulls == '0' and type != 'string' and typed_literal(type, least) -%}
            {%- do facts.bounds.append(
                merge_aliases()[0] ~ '.' ~ column ~ ' between ' ~ typed_literal(type, least)
                ~ ' and ' ~ typed_literal(type, greatest)
            ) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(facts) -}}
{%- endmacro %}
