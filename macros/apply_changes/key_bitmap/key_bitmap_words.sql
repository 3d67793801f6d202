{#-
    Return how many words of 64 bits the key bitmap has: at least four bits per change, and sixteen
    as long as the bitmap stays within half a megabyte.
-#}
{% macro key_bitmap_words(plan) -%}
    {{ 4096 if plan.changes <= 16384 else 16384 if plan.changes <= 65536 else 65536 }}
{%- endmacro %}
