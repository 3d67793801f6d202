{#-
    dbt's statement, which checks before each write that this command's claim is still valid.

    A dbt that was suspended has lost its claim, and its writes would be older than those of another
    build since. SQL without a line that begins with a writing verb counts as a read.
-#}
{% macro statement(name=none, fetch_result=false, auto_begin=true, language='sql') -%}
    {%- if execute -%}
        {%- set code = caller() -%}
        {%- if graph.get('headwater_claim') == invocation_id and modules.re.search(
            '(?im)^\\s*(insert|merge|update|delete|truncate|create|replace|alter|drop|restore)\\b', code
        ) -%}
            {%- do check_claim() -%}
        {%- endif -%}
        {%- call dbt.statement(name, fetch_result, auto_begin, language) -%}{{ code }}{%- endcall -%}
    {%- endif -%}
{%- endmacro %}
