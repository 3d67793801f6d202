{#-
    The position of a row `old` of the table beside a change `new` of its key.

    Content decides only between changes that are level in everything else. As long as none
    was found to be, the row's content counts as the change's: a merge then reads few of the
    table's columns.
-#}
{% macro known_position(plan) -%}
    {{ table_position(plan, 'old', '' if plan.level else 'new.__position.content') }}
{%- endmacro %}
