{#-
    Fail where the first or a full build would have a key twice: no merge looks at its rows, and
    later ones would change both.

    Only of models that read what is new (`unread`, `touched`): what dbt's users bring along builds
    as it did.
-#}
{% macro check_first_keys(code) -%}
    {%- set keys = key_columns(config.get('unique_key')) -%}
    {%- if keys and config.get('incremental_strategy') == 'merge' and model.language == 'sql'
        and execute and not flags.EMPTY and batches_read(code) -%}
        {%- set rows = '(' ~ code ~ '\n) as DBT_INTERNAL_SOURCE' -%}
        {%- set query -%}
            select count(*) as number, count(distinct struct({{ keys | join(', ') }})) as distinct_number
            from {{ rows }}
        {%- endset -%}
        {%- set found = run_query(query).rows[0] -%}
        {%- if found['number'] != found['distinct_number'] -%}
            {%- do refuse_repeated_key(rows, keys) -%}
        {%- endif -%}
    {%- endif -%}
{%- endmacro %}
