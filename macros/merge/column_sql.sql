{#-
    Return a column's name in SQL, in backticks if it needs them and has none.
-#}
{% macro column_sql(name) -%}
    {{- return(
        name if name.startswith('`') or modules.re.match('[A-Za-z0-9_]+$', name)
        else '`' ~ name | replace('`', '``') ~ '`'
    ) -}}
{%- endmacro %}
