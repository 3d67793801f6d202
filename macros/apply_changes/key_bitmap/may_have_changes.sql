{#-
    SQL condition that a row `old` of the table may have changes, checked while the table is read:
    bounds of the changed keys and, if there is one, the key bitmap.

    Delta skips files by the bounds. Its merge joins the changes with all keys within the bounds,
    three times, and keeps these keys in memory or sorts them if it inserts; the bitmap leaves few
    of them.
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
