{#-
    Return the conditions that the model itself sets for its strategy: `incremental_predicates`, or
    `predicates`, as dbt-spark reads them.
-#}
{% macro own_predicates() -%}
    {{- return(config.get('predicates') or config.get('incremental_predicates')) -}}
{%- endmacro %}
