{#-
    Return the aliases of the table and of the input in a merge: [target, source].
-#}
{% macro merge_aliases() -%}
    {{- return([
        model_option('target_alias', 'DBT_INTERNAL_DEST'),
        model_option('source_alias', 'DBT_INTERNAL_SOURCE'),
    ]) -}}
{%- endmacro %}
