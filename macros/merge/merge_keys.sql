{#-
    Return the conditions under which an input row matches a table row. Null matches null, but only
    columns with nulls in the input are compared so, because that comparison costs more.

    Without a key, every row is inserted, as in dbt-spark.
-#}
{% macro merge_keys(keys, nulls) -%}
    {%- if not keys -%}
        {{- return(['false']) -}}
    {%- endif -%}
    {%- set target_alias, source_alias = merge_aliases() -%}
    {%- set conditions = [] -%}
    {%- for key in keys -%}
        {%- do conditions.append(
            source_alias ~ '.' ~ key ~ (' <=> ' if key in nulls else ' = ') ~ target_alias ~ '.' ~ key
        ) -%}
    {%- endfor -%}
    {{- return(conditions) -}}
{%- endmacro %}
