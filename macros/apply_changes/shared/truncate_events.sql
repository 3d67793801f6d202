{#-
    Query: the positions of the input's truncate events.
-#}
{% macro truncate_events(plan) -%}
    select
        named_struct(
            {%- for name in plan.sequence_by %}
            's{{ loop.index }}', cast(`{{ name }}` as {{ plan.read_columns[name] }}),
            {%- endfor %}
            {%- for name in plan.source_position %}
            'p{{ loop.index }}', cast(`{{ name }}` as {{ plan.read_columns[name] }}),
            {%- endfor %}
            'rank', {{ plan.delete_rank }}, 'content', 0L
        ) as __truncate_position
    from {{ plan.input }}
    where {{ plan.apply_as_truncates }} and not ({{ lacks_key_or_sequence(plan) }})
{%- endmacro %}
