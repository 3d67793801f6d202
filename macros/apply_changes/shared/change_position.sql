{#-
    SQL expression for the position of a change among all changes of its key, as one comparable
    struct. `start` names the column with the sequence of a version.

    It compares the sequence first, then the source's order of changes with one sequence, then
    whether deletes win, then the content. That is a total order, so the loser of a tie need not be
    stored.
-#}
{% macro change_position(plan, relation, rank, content, start='') -%}
    named_struct(
        {%- for name in plan.sequence_by -%}
            's{{ loop.index }}', {{ sequence_field(plan, relation, name, start) }},
        {%- endfor -%}
        {%- for name in plan.source_position -%}
            'p{{ loop.index }}', {{ relation }}.`{{ name }}`,
        {%- endfor -%}
        'rank', {{ rank }}, 'content', {{ content }}
    )
{%- endmacro %}
