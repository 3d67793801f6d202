{#-
    SQL expression for the position of a row `old` of the table, to compare with a change `new` of
    its key.

    Content decides only between changes that are equal in everything else. Unless such changes were
    found (`plan.level`), the change's own content is used for the row's, so the merge reads few of
    the table's columns.
-#}
{% macro row_position(plan) -%}
    {{ table_position(plan, 'old', '' if plan.level else 'new.__position.content') }}
{%- endmacro %}
