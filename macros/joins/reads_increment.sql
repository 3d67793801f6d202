{#-
    Return whether a join or sessions (`what`) read only what is new; fail if the model could not
    replace its rows.

    columns  what the model must select, so that its rows can be found
-#}
{% macro reads_increment(what, columns) -%}
    {%- if not execute or not uses_watermarks() or config.get('materialized') != 'incremental' -%}
        {{- return(false) -}}
    {%- endif -%}
    {%- if config.get('incremental_strategy') != 'merge' or not key_columns(config.get('unique_key')) -%}
        {%- do exceptions.raise_compiler_error(
            this ~ ': ' ~ what ~ ' needs incremental_strategy merge and a unique_key, by which rows are replaced'
        ) -%}
    {%- endif -%}
    {%- if not has_clause(['matched']) -%}
        {%- do exceptions.raise_compiler_error(
            this ~ ': ' ~ what ~ ' replaces rows that a later one changes, and a merge without a clause for '
            ~ 'matched, such as with skip_matched_step, keeps their first copy; leave that out'
        ) -%}
    {%- endif -%}
    {%- if is_incremental() -%}
        {%- set names = bare_names(adapter.get_columns_in_relation(this) | map(attribute='name') | list) -%}
        {%- set missing = bare_names(columns) | reject('in', names) | list -%}
        {%- if missing -%}
            {%- do exceptions.raise_compiler_error(
                this ~ ': ' ~ what ~ ' finds the rows to replace by ' ~ missing | join(', ')
                ~ ', which the model does not select; select it, and build with --full-refresh --select ' ~ model.name
            ) -%}
        {%- endif -%}
    {%- endif -%}
    {{- return(is_incremental()) -}}
{%- endmacro %}
