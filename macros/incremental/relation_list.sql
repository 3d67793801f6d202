{#-
    Return one relation, or a list of them, as a list.
-#}
{% macro relation_list(relations) -%}
    {%- set is_one = relations is string or relations.identifier is defined -%}
    {{- return([relations] if is_one else relations | list) -}}
{%- endmacro %}
