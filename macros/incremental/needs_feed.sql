{#-
    Whether the model's table has to keep a change data feed for its readers.

    A feed costs a merge the old rows once more, so a table without such readers has none.
-#}
{% macro needs_feed() -%}
    {{- return(
        model.resource_type == 'model' and rows_may_change(model) == 'feed'
        and has_incremental_readers(model.unique_id)
    ) -}}
{%- endmacro %}
