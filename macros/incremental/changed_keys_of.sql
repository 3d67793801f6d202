{#-
    Query: `changed_keys` of a relation, or of several that have the same key.
-#}
{% macro changed_keys_of(relations, key) -%}
    {%- for relation in relation_list(relations) -%}
        {{ ' union ' if not loop.first }}{{ changed_keys(relation, key) }}
    {%- endfor -%}
{%- endmacro %}
