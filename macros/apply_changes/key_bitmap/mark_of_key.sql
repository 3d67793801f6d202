{#-
    SQL expression for the bit of a key in the bitmap; several keys may share one.
-#}
{% macro mark_of_key(plan, relation) -%}
    (xxhash64({{ column_names(plan.bounded, relation) }}) & {{ words_of_marks(plan) | int * 64 - 1 }})
{%- endmacro %}
