{#-
    Old name of `affected_partitions`; removed with the next version.
-#}
{% macro touched(column, relation, counter='_batch_id') -%}
    {{ affected_partitions(column, relation, counter) }}
{%- endmacro %}
