{#-
    SQL expression for one `sequence_by` column of a row, or of the column `start` with a version's
    sequence.

    With several `sequence_by` columns, `start` is a struct of them.
-#}
{% macro sequence_field(plan, relation, name, start) -%}
    {{ relation }}.`{{ start or name }}`
    {%- if start and plan.sequence_by | length > 1 -%} .`{{ name }}` {%- endif -%}
{%- endmacro %}
