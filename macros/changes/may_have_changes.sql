{#-
    Whether the key of a row `old` of the table may have changes: a condition that is checked
    while the table is read.

    Delta passes over files by the bounds. Its merge joins the changes with all keys within them,
    three times, and holds them in memory or sorts them where it inserts; the marks leave few of
    those.
-#}
{% macro may_have_changes(plan) -%}
    {{ plan.bounds }}
    {%- if is_marked(plan) | trim %}
        and getbit(
            get({{ plan.view }}__marks, cast(shiftright({{ mark_of_key(plan, 'old') }}, 6) as int)),
            cast({{ mark_of_key(plan, 'old') }} & 63 as int)
        ) = 1
    {%- endif %}
{%- endmacro %}
