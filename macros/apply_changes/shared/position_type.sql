{#-
    SQL type of a position (`change_position`).
-#}
{% macro position_type(plan) -%}
    struct<
        {%- for name in plan.sequence_by -%} s{{ loop.index }}: {{ plan.read_columns[name] }}, {%- endfor -%}
        {%- for name in plan.source_position -%} p{{ loop.index }}: {{ plan.read_columns[name] }}, {%- endfor -%}
        rank: int, content: bigint>
{%- endmacro %}
