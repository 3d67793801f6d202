{#-
    Return whether the model's table must keep a change data feed, because its rows may change and
    an incremental model reads it.

    A feed makes a merge write the old rows once more, so a table without such readers has none.
-#}
{% macro needs_feed() -%}
    {{- return(
        model.resource_type == 'model' and rows_may_change(model) == 'feed'
        and has_incremental_readers(model.unique_id)
    ) -}}
{%- endmacro %}
