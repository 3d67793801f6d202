{#-
    Fail if a model that uses `touched` has a strategy other than `replace_where` that would keep
    outdated rows or append rows a second time.
-#}
{% macro check_touched(feeds) -%}
    {%- set strategy = config.get('incremental_strategy') -%}
    {%- if config.get('materialized') == 'incremental' and strategy != 'replace_where'
        and (strategy == 'append' or feeds) -%}
        {%- do exceptions.raise_compiler_error(
            this ~ ': touched() needs incremental_strategy replace_where, which replaces exactly the '
            ~ 'values that it names; ' ~ strategy ~ (
                ' adds them once more' if strategy == 'append'
                else ' keeps those that no row of ' ~ feeds | map(attribute='table') | join(', ') ~ ' has any more'
            )
        ) -%}
    {%- endif -%}
{%- endmacro %}
