{#-
    The values of a column in the rows of `relation` that this model has not merged yet: which
    of its own rows a model has to build anew.
-#}
{% macro unread_keys(relation, key) -%}
    select {{ key }} from {{ relation }} where {{ unread(relation) }}
{%- endmacro %}
