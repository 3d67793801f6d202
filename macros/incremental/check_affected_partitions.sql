{#-
    Fail if a model that uses `affected_partitions` has a strategy other than `replace_where` that
    would keep outdated rows or append rows a second time, or if `relation` has no such `column`,
    which its first build would not notice. With a `window`, `column` is the model's own.
-#}
{% macro check_affected_partitions(column, relation, feeds, window) -%}
    {%- set strategy = config.get('incremental_strategy') or 'append' -%}
    {%- set adds = appends(strategy) -%}
    {%- set is_whole = feeds | rejectattr('is_feed') | list | length > 0 -%}
    {%- if config.get('materialized') == 'incremental' and strategy != 'replace_where' and (adds or feeds) -%}
        {%- do exceptions.raise_compiler_error(
            this ~ ': affected_partitions() needs incremental_strategy replace_where, which replaces exactly the '
            ~ 'rows of the affected values; ' ~ strategy ~ (' without a unique_key' if adds and strategy == 'merge') ~ (
                ' adds them again' if adds
                else ' keeps values that no row of ' ~ feeds | map(attribute='table') | join(', ') ~ ' has any longer'
            )
        ) -%}
    {%- endif -%}
    {%- if config.get('materialized') == 'incremental' and not is_incremental() and not is_whole and not window
        and modules.re.match('\\w+$', column) -%}
        {%- set known = adapter.get_columns_in_relation(relation) | map(attribute='name') | map('lower') | list -%}
        {%- if known and column | lower not in known -%}
            {%- do exceptions.raise_compiler_error(
                this ~ ': affected_partitions() takes a column of ' ~ relation ~ ', and ' ~ column
                ~ ' is none; it has ' ~ known | join(', ')
            ) -%}
        {%- endif -%}
    {%- endif -%}
{%- endmacro %}
