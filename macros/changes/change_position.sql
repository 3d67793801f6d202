{#-
    The place of a change in the order of all changes of its key, as one comparable struct.

    First the sequence, then what the source says about changes of one sequence, then whether
    deletes win, then the content: a total order, so the loser of a tie can be forgotten.
    `start` names the column that holds the sequence of a version.
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
