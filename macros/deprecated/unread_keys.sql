{#-
    Old name of `changed_keys`; removed with the next version.
-#}
{% macro unread_keys(relation, key, own_key=none) -%}
    {{ changed_keys(relation, key, own_key) }}
{%- endmacro %}
