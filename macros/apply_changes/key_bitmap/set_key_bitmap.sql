{#-
    Statements that set a session variable to the bitmap of the keys that have changes, for
    `changed_key_filter`.
-#}
{% macro set_key_bitmap(plan) -%}
    declare or replace variable {{ plan.view }}__key_bitmap array<bigint>
    {{ next_statement() }}
    set variable {{ plan.view }}__key_bitmap = (
        select array_sort(array_agg(struct(word.position, coalesce(used.bits, 0L) as bits))).bits
        from (select cast(id as int) as position from range({{ key_bitmap_words(plan) }})) as word
        left join (
            select
                cast(shiftright(key_bit, 6) as int) as position,
                bit_or(shiftleft(1L, cast(key_bit & 63 as int))) as bits
            from (select {{ key_bitmap_bit(plan, 'new') }} as key_bit from {{ plan.view }}__changes as new)
            group by 1
        ) as used on word.position = used.position
    )
{%- endmacro %}
