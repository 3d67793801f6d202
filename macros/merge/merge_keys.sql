{#-
    The conditions under which a row of the input is the row of the table.

    Without a key every row is a new one, as in dbt-spark; a rule for matched rows then means
    a forgotten key.
-#}
{% macro merge_keys(unique_key, columns) -%}
    {%- if not unique_key -%}
        {%- if config.get('matched_condition') or config.get('skip_matched_step') -%}
            {%- do exceptions.raise_compiler_error(this ~ ': merge needs a unique_key in config()') -%}
        {%- endif -%}
        {{- return(['false']) -}}
    {%- endif -%}
    {%- set known = columns | map(attribute='name') | map('lower') | list -%}
    {%- set conditions = [] -%}
    {%- for key in ([unique_key] if unique_key is string else unique_key) -%}
        {%- if modules.re.match('\\w+$', key) and key | lower not in known -%}
            {%- do exceptions.raise_compiler_error(
                this ~ ': unique_key ' ~ key ~ ' is no column of the table; it has '
                ~ known | join(', ')
            ) -%}
        {%- endif -%}
        {%- do conditions.append(
            'DBT_INTERNAL_SOURCE.' ~ key ~ ' = DBT_INTERNAL_DEST.' ~ key
        ) -%}
    {%- endfor -%}
    {{- return(conditions) -}}
{%- endmacro %}
