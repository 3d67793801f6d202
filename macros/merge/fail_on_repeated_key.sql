{#-
    Fail with one of the keys that occur more than once in `rows`. A merge would insert all of these
    rows or, if the table has the key, could not decide between them.
-#}
{% macro fail_on_repeated_key(rows, keys) -%}
    {%- set query -%}
        select to_json(struct({{ keys | join(', ') }}), map('ignoreNullFields', 'false')) as found, count(*) as number
        from {{ rows }}
        group by {{ keys | join(', ') }}
        having count(*) > 1
        limit 1
    {%- endset -%}
    {%- set row = run_query(query).rows[0] -%}
    {%- do exceptions.raise_compiler_error(
        this ~ ': unique_key ' ~ keys | join(', ') ~ ' is not unique in what the model reads: '
        ~ row['number'] ~ ' rows have ' ~ row['found'] ~ '; keep one row per key, for example with row_number()'
    ) -%}
{%- endmacro %}
