{#-
    Fail before the first build or a full refresh if later builds would fail, lose rows or add them
    again: the model does not select a column by which increments find their rows (`unique_key`,
    `finds_rows_by`, `replaces`), or its strategy cannot replace them.

    Only for models with an incremental filter in their text, as `check_first_keys`.
-#}
{% macro check_later_builds(code, text) -%}
    {%- if execute and watermarks_in_sql(text) -%}
        {%- set strategy = config.get('incremental_strategy') or 'append' -%}
        {%- do check_strategy(strategy, text, is_first=true) -%}
        {%- set names = run_query('describe query select * from (' ~ code ~ '\n)').columns[0].values()
            | map('lower') | list -%}
        {%- if strategy == 'merge' -%}
            {%- do check_key_columns(key_columns(config.get('unique_key')), names, 'model') -%}
            {%- do check_replaced_keys(replaced_in_sql(text, is_first=true), names) -%}
            {%- do check_unmatched_rows() -%}
        {%- elif strategy == 'replace_where' and not own_predicates() -%}
            {%- do affected_conditions(text) -%}
        {%- endif -%}
        {%- for what, columns in modules.re.findall('/\\* (\\S+) finds rows by (.+?) \\*/', text) -%}
            {%- set missing = bare_names(columns.split(', ')) | reject('in', names) | list -%}
            {%- if missing -%}
                {%- do exceptions.raise_compiler_error(
                    this ~ ': ' ~ what ~ ' finds the rows to replace by ' ~ missing | join(', ')
                    ~ ', which the model does not select; select it'
                ) -%}
            {%- endif -%}
        {%- endfor -%}
    {%- endif -%}
{%- endmacro %}
