{#-
    Fail if a model that uses `affected_partitions` has a strategy other than `replace_where` that
    would keep outdated rows or append rows a second time.
-#}
{% macro check_affected_partitions(feeds) -%}
    {%- set strategy = config.get('incremental_strategy') -%}
    {%- if config.get('materialized') == 'incremental' and strategy != 'replace_where'
        and (strategy == 'append' or feeds) -%}
        {%- do exceptions.raise_compiler_error(
            this ~ ': affected_partitions() needs incremental_strategy replace_where, which replaces exactly the '
            ~ 'rows of the affected values; ' ~ strategy ~ (
                ' adds them again' if strategy == 'append'
                else ' keeps values that no row of ' ~ feeds | map(attribute='table') | join(', ') ~ ' has any longer'
            )
        ) -%}
    {%- endif -%}
{%- endmacro %}
