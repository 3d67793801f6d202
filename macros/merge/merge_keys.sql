{#-
    The conditions under which a row of the input is the row of the table. A null is a key like
    any other; only an input that has some is compared so, because it costs more.

    Without a key every row is a new one, as in dbt-spark; a rule for matched rows then means
    a forgotten key.
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
