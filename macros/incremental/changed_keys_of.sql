{#-
    Query: `changed_keys` of several relations that have the same key.
-#}
{% macro changed_keys_of(relations, key) -%}
    {%- for relation in relations -%}
        {{ ' union ' if not loop.first }}{{ changed_keys(relation, key) }}
    {%- endfor -%}
{%- endmacro %}
