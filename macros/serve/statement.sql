{#-
    dbt's statement, which looks before each write whether the claim of this command still holds.

    A dbt that was suspended has lost its claim: what it would write is older than what another
    build has written since. What begins no line with a verb that writes is only read.
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
