{#-
    The text of a query, between markers that let a merge remove rows of the model that the model
    does not return again: rows `old` that meet `condition` with a row `changed` of the query
    (`removed_rows`).
-#}
{% macro replaces(condition, query) -%}
    /* replaces where {{ condition }} */ {{ query }} /* end of replaces */
{%- endmacro %}
