{#-
    Query: a merge's input and, with `_is_removed`, the keys of rows that it has to remove
    (`removed_rows`): so both happen in one commit, and no reader sees half of it.

    names  columns of the input in their order
-#}
{% macro with_removed_rows(source, names, keys, removed) -%}
    {%- set own = bare_names(keys) -%}
    (
        select *, false as _is_removed from {{ source }}
        union all
        select {% for name in names -%}
            {{ name if bare_names([name])[0] in own else 'null' }},
        {%- endfor %} true from ({{ removed }})
    )
{%- endmacro %}
