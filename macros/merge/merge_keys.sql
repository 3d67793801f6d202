{#-
    Return the conditions under which an input row matches a table row. Null matches null, but only
    columns with nulls in the input are compared so, because that comparison costs more.

    Without a key, every row is inserted, as in dbt-spark; a rule for matched rows then means that
    the key was forgotten, and the build fails.
-#}
{% macro merge_keys(keys, nulls) -%}
    {%- if not keys -%}
        {%- if config.get('matched_condition') or config.get('skip_matched_step') -%}
            {%- do exceptions.raise_compiler_error(this ~ ': merge needs a unique_key in config()') -%}
        {%- endif -%}
        {{- return(['false']) -}}
    {%- endif -%}
    {%- set conditions = [] -%}
    {%- for key in keys -%}
        {%- do conditions.append(
            'DBT_INTERNAL_SOURCE.' ~ key ~ (' <=> ' if key in nulls else ' = ') ~ 'DBT_INTERNAL_DEST.' ~ key
        ) -%}
    {%- endfor -%}
    {{- return(conditions) -}}
{%- endmacro %}
