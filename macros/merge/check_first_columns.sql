{#-
    Fail before the first build or a full refresh if the model does not select a column by which its
    increments would find their rows: those of `unique_key`, and those that macros name
    (`finds_rows_by`, `replaces`).

    Only for models with an incremental filter in their text, as `check_first_keys`.
-#}
{% macro check_first_columns(code, text) -%}
    {%- if execute and watermarks_in_sql(text) -%}
        {%- set names = run_query('select * from (' ~ code ~ '\n) limit 0').column_names | map('lower') | list -%}
        {%- if config.get('incremental_strategy') == 'merge' -%}
            {%- do check_key_columns(key_columns(config.get('unique_key')), names) -%}
            {%- do check_replaced_keys(names) -%}
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
