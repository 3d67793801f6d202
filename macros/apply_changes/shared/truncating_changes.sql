{#-
    Query: the positions of the input's truncate events.
-#}
{% macro truncating_changes(plan) -%}
    select
        named_struct(
            {%- for name in plan.sequence_by %}
            's{{ loop.index }}', cast(`{{ name }}` as {{ plan.read_columns[name] }}),
            {%- endfor %}
            {%- for name in plan.source_position %}
            'p{{ loop.index }}', cast(`{{ name }}` as {{ plan.read_columns[name] }}),
            {%- endfor %}
            'rank', {{ plan.delete_rank }}, 'content', 0L
        ) as __emptied
    from {{ plan.input }}
    where {{ plan.apply_as_truncates }} and not ({{ unusable_changes(plan) }})
{%- endmacro %}
