{#-
    SQL expression for the position of the change that a row of an SCD 1 table shows.

    `content` replaces the hash of the row's content if the row's columns need not be read.
-#}
{% macro table_position(plan, relation, content='') -%}
    {%- set rank = 'if(' ~ relation ~ '.is_deleted, ' ~ plan.delete_rank ~ ', '
        ~ (1 - plan.delete_rank) ~ ')' if plan.keep_deleted else 1 - plan.delete_rank -%}
    {{ change_position(plan, relation, rank, content or change_content(plan, relation)) }}
{%- endmacro %}
