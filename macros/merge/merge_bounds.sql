{#-
    Literal bounds on the table's side of a merge, from the input's least and greatest values.

    An input with a null in such a column gets no bound for it: its row may lie anywhere.
    Where the merge reads it once more alone, the input is kept on disk when it is looked at
    (`kept_input`).
-#}
{% macro merge_bounds(source) -%}
    {%- set columns = config.get('merge_bounds') or [] -%}
    {%- set conditions = [] -%}
    {%- if columns -%}
        {%- set parts = [] -%}
        {%- for column in columns -%}
            {%- do parts.extend([
                'typeof(any_value(' ~ column ~ '))',
                'cast(min(' ~ column ~ ') as string)',
                'cast(max(' ~ column ~ ') as string)',
                'cast(count_if(' ~ column ~ ' is null) as string)',
            ]) -%}
        {%- endfor -%}
        {%- if kept_input() -%}
            {%- do run_query('cache lazy table ' ~ source ~ " options ('storageLevel' = 'DISK_ONLY')") -%}
        {%- endif -%}
        {%- set query = 'select to_json(array(' ~ parts | join(', ') ~ ')) as bounds from ' ~ source -%}
        {%- set found = fromjson(run_query(query).columns[0].values()[0]) -%}
        {%- for column in columns -%}
            {%- set type, least, greatest, nulls = found[loop.index0 * 4:loop.index0 * 4 + 4] -%}
            {%- if least and nulls == '0' and typed_literal(type, least) -%}
                {%- do conditions.append(
                    'DBT_INTERNAL_DEST.' ~ column ~ ' between ' ~ typed_literal(type, least)
                    ~ ' and ' ~ typed_literal(type, greatest)
                ) -%}
            {%- endif -%}
        {%- endfor -%}
    {%- endif -%}
    {{- return(conditions) -}}
{%- endmacro %}
