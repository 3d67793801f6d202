{#-
    SQL expression for the bit of a key in the bitmap; several keys may share one.
-#}
{% macro key_bitmap_bit(plan, relation) -%}
    (xxhash64({{ column_names(plan.bounded, relation) }}) & {{ key_bitmap_words(plan) | int * 64 - 1 }})
{%- endmacro %}
