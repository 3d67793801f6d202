{#-
    Fail if a merge could not replace the rows that `changed_keys` and its like name (`replaces`):
    the model lacks a column that finds them, or keeps the first copy of a row.

    replaced  texts of `replaced_in_sql`
    names     the model's columns, in lower case
-#}
{% macro check_replaced_keys(replaced, names) -%}
    {%- for one in replaced -%}
        {%- set missing = bare_names(one.columns) | reject('in', names) | list -%}
        {%- if missing -%}
            {%- do exceptions.raise_compiler_error(
                this ~ ': changed_keys() and affected_keys() find the rows to replace by ' ~ missing | join(', ')
                ~ ', which the model does not select; select it, or name its column with own_key of changed_keys(), '
                ~ 'and build with --full-refresh --select ' ~ model.name
            ) -%}
        {%- elif not has_clause(['matched']) -%}
            {%- do exceptions.raise_compiler_error(
                this ~ ': changed_keys() and affected_keys() give rows that have changed, and ' ~ (
                    'merge without a clause for matched keeps their first copy; add one' if model_option('merge')
                    else 'skip_matched_step keeps their first copy; leave it out'
                )
            ) -%}
        {%- endif -%}
    {%- endfor -%}
{%- endmacro %}
