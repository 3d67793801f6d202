{#-
    The marker and the condition of `unread`; what follows it ends the text that the marker begins.
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
