{#-
    One column of the sequence of a row, which may stand in the column of a version's start.

    With several `sequence_by` columns that column is a struct of them.
-#}
{% macro sequence_field(plan, relation, name, start) -%}
    {{ relation }}.`{{ start or name }}`
    {%- if start and plan.sequence_by | length > 1 -%} .`{{ name }}` {%- endif -%}
{%- endmacro %}
