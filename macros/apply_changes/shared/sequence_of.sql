{#-
    SQL expression for the sequence of a change, from its position: a value, or a struct for several
    `sequence_by` columns.
-#}
{% macro sequence_of(plan, position) -%}
    {%- if plan.sequence_by | length == 1 -%}
        {{ position }}.s1
    {%- else -%}
        named_struct(
            {%- for name in plan.sequence_by -%}
                '{{ name }}', {{ position }}.s{{ loop.index }}{{ ', ' if not loop.last }}
            {%- endfor -%}
        )
    {%- endif -%}
{%- endmacro %}
