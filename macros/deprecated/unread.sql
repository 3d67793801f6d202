{#-
    Old name of `incremental_filter`; removed with the next version.
-#}
{% macro unread(relation, column='_batch_id', event_type=none) -%}
    {{ incremental_filter(relation, column, event_type) }}
{%- endmacro %}
