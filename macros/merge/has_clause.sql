{#-
    Return whether a model's merge has a clause for one of these kinds of rows. `node` is another
    model.
-#}
{% macro has_clause(kinds, node=none) -%}
    {{- return(merge_clauses(node) | selectattr('when', 'in', kinds) | list | length > 0) -}}
{%- endmacro %}
