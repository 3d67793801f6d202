{#-
    Fail if the first build or a full refresh would write a key twice: no merge checks these rows,
    and later merges would update both.

    Only for models with an incremental filter (`incremental_filter`, `affected_partitions`) in their
    text; other dbt models build as before.
-#}
{% macro check_first_keys(code, text) -%}
    {%- set keys = key_columns(config.get('unique_key')) -%}
    {%- if keys and config.get('incremental_strategy') == 'merge'
        and execute and not flags.EMPTY and watermarks_in_sql(text) -%}
        {%- set rows = '(' ~ code ~ '\n) as DBT_INTERNAL_SOURCE' -%}
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
