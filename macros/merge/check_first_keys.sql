{#-
    Fail if the first build or a full refresh would write a key twice: no merge checks these rows,
    and later merges would update both.

    Only for models with an incremental filter (`incremental_filter`, `affected_partitions`) in their
    text; other dbt models build as before. And fail if their rows could not be replaced later.
-#}
{% macro check_first_keys(code, text) -%}
    {%- set keys = key_columns(config.get('unique_key')) -%}
    {%- if keys and config.get('incremental_strategy') == 'merge'
        and execute and not flags.EMPTY and watermarks_in_sql(text) -%}
        {%- set rows = '(' ~ code ~ '\n) as DBT_INTERNAL_SOURCE' -%}
        {%- if replaced_in_sql(text) -%}
            {%- do check_replaced_keys(
                run_query('select * from ' ~ rows ~ ' limit 0').column_names | map('lower') | list
            ) -%}
        {%- endif -%}
        {%- set query -%}
            select count(*) as number, count(distinct struct({{ keys | join(', ') }})) as distinct_number
            from {{ rows }}
        {%- endset -%}
        {%- set found = run_query(query).rows[0] -%}
        {%- if found['number'] != found['distinct_number'] -%}
            {%- do fail_on_repeated_key(rows, keys) -%}
        {%- endif -%}
    {%- endif -%}
{%- endmacro %}
