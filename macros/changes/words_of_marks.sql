{#-
    How many words of 64 bits hold the marks of keys: at least four bits a change, and sixteen
    as long as that is half a megabyte.
-#}
{% macro words_of_marks(plan) -%}
    {{ 4096 if plan.changes <= 16384 else 16384 if plan.changes <= 65536 else 65536 }}
{%- endmacro %}
