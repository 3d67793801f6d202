{#-
    What a merge has to know of its input before, from one look at it: {nulls: columns of the key
    that have nulls, bounds: conditions on the table}. Fails where a key comes twice.

    Bounds are literals, from the least and greatest values of `merge_bounds`. An input with a
    null in such a column gets no bound for it: its row may lie anywhere. Neither does a column
    that is none of the key, where the model reads rows that may move. The input is kept on
    disk when it is looked at, where the merge reads it once more alone (`kept_input`).
-#}
{% macro merge_facts(source, keys) -%}
    {%- set columns = [] -%}
    {%- for column in config.get('merge_bounds') or []
        if column in keys or not feeds_in(compiled_code) -%}
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
    {%- if kept_input() -%}
        {%- do run_query('cache lazy table ' ~ source ~ " options ('storageLevel' = 'DISK_ONLY')") -%}
    {%- endif -%}
    {%- set texts = [] -%}
    {%- for part in parts -%}{%- do texts.append('cast(' ~ part ~ ' as string)') -%}{%- endfor -%}
    {%- set query = 'select to_json(array(' ~ texts | join(', ') ~ ')) as facts from ' ~ source -%}
    {%- set found = fromjson(run_query(query).columns[0].values()[0]) -%}
    {%- if found[0] != found[1] -%}{%- do refuse_repeated_key(source, keys) -%}{%- endif -%}
    {%- for key in keys -%}
        {%- if found[2 + loop.index0] != '0' -%}{%- do facts.nulls.append(key) -%}{%- endif -%}
    {%- endfor -%}
    {%- for column in columns -%}
        {%- set begin = 2 + keys | length + loop.index0 * 4 -%}
        {%- set type, least, greatest, nulls = found[begin:begin + 4] -%}
        {%- if least and nulls == '0' and type != 'string' and typed_literal(type, least) -%}
            {%- do facts.bounds.append(
                'DBT_INTERNAL_DEST.' ~ column ~ ' between ' ~ typed_literal(type, least)
                ~ ' and ' ~ typed_literal(type, greatest)
            ) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(facts) -}}
{%- endmacro %}
