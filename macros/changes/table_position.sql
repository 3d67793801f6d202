{#-
    The position of the change that a row of an SCD 1 table shows.
-#}
{% macro table_position(plan, relation) -%}
    {%- set rank = 'if(' ~ relation ~ '.is_deleted, ' ~ plan.delete_rank ~ ', '
        ~ (1 - plan.delete_rank) ~ ')' if plan.keep_deleted else 1 - plan.delete_rank -%}
    {{ change_position(plan, relation, rank, change_content(plan, relation)) }}
{%- endmacro %}
