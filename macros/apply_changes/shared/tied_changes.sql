{#-
    SQL expression for the number of changes in a group that tie: they have the same sequence as
    another change that differs.
-#}
{% macro tied_changes(plan, relation) -%}
    size(collect_set({{ relation }}.__position)) - size(collect_set(struct(
        {%- for _ in plan.sequence_by -%}
            {{ relation }}.__position.s{{ loop.index }}{{ ', ' if not loop.last }}
        {%- endfor -%}
    )))
{%- endmacro %}
