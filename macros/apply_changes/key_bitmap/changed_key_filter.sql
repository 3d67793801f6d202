{#-
    SQL condition that a row `old` of the table may have changes, checked while the table is read:
    bounds of the changed keys and, if there is one, the key bitmap.

    Delta skips files by the bounds. Its merge joins the changes with all keys within the bounds,
    three times, and keeps these keys in memory or sorts them if it inserts; the bitmap leaves few
    of them.
-#}
{% macro changed_key_filter(plan) -%}
    {{ plan.bounds }}
    {%- if uses_key_bitmap(plan) | trim %}
        and getbit(
            get({{ plan.view }}__key_bitmap, cast(shiftright({{ key_bitmap_bit(plan, 'old') }}, 6) as int)),
            cast({{ key_bitmap_bit(plan, 'old') }} & 63 as int)
        ) = 1
    {%- endif %}
{%- endmacro %}
