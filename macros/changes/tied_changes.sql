{#-
    How many changes of a group share their sequence with another one that says something else.
-#}
{% macro tied_changes(plan, relation) -%}
    size(collect_set({{ relation }}.__position)) - size(collect_set(struct(
        {%- for _ in plan.sequence_by -%}
            {{ relation }}.__position.s{{ loop.index }}{{ ', ' if not loop.last }}
        {%- endfor -%}
    )))
{%- endmacro %}
