{#-
    Marker comment and condition of `unread`. The caller renders the end marker.
-#}
{% macro unread_batches(relation, column, event_type=none) -%}
    {%- set mark = mark_of(this, relation) if is_incremental() else -1 -%}
    {%- set newest = newest_batch(relation, column) -%}
    {%- set filled = filled_batch(relation, event_type) -%}
    {%- if filled is not none -%}
        {%- set newest = [[newest, filled] | min, mark] | max -%}
    {%- endif -%}
    /* unread {{ relation }} {{ mark }} {{ newest }} */
    ({{ column }} > {{ mark }} and {{ column }} <= {{ newest }})
{%- endmacro %}
