{#-
    The number of a key's mark; other keys may share it.
-#}
{% macro mark_of_key(plan, relation) -%}
    (xxhash64({{ column_names(plan.bounded, relation) }}) & {{ words_of_marks(plan) | int * 64 - 1 }})
{%- endmacro %}
