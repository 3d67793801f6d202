{#-
    SQL condition for changes without key or sequence.

    Truncate events need no key.
-#}
{% macro lacks_key_or_sequence(plan) -%}
    {%- for name in plan.sequence_by -%} `{{ name }}` is null{{ ' or ' if not loop.last }} {%- endfor -%}
    {{ ' or ' }}
    {%- if plan.apply_as_truncates -%} not coalesce({{ plan.apply_as_truncates }}, false) and {% endif -%}
    ({%- for name in plan.key_columns -%} `{{ name }}` is null{{ ' or ' if not loop.last }} {%- endfor -%})
{%- endmacro %}
