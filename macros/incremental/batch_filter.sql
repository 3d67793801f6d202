{#-
    Marker comment and condition of `incremental_filter`. The caller renders the end marker.
-#}
{% macro batch_filter(relation, column, event_type=none) -%}
    {%- set watermark = watermark_of(this, relation) if is_incremental() else -1 -%}
    {%- set newest = newest_batch(relation, column) -%}
    {%- set filled = filled_batch(relation, event_type) -%}
    {%- if filled is not none -%}
        {%- set newest = [[newest, filled] | min, watermark] | max -%}
    {%- endif -%}
    /* watermark {{ relation }} {{ watermark }} {{ newest }} */
    ({{ column }} > {{ watermark }} and {{ column }} <= {{ newest }})
{%- endmacro %}
