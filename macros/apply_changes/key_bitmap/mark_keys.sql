{#-
    Statements that set a session variable to the bitmap of the keys that have changes, for
    `may_have_changes`.
-#}
{% macro mark_keys(plan) -%}
    declare or replace variable {{ plan.view }}__marks array<bigint>
    {{ next_statement() }}
    set variable {{ plan.view }}__marks = (
        select array_sort(array_agg(struct(word.place, coalesce(marked.bits, 0L) as bits))).bits
        from (select cast(id as int) as place from range({{ words_of_marks(plan) }})) as word
        left join (
            select
                cast(shiftright(mark, 6) as int) as place,
                bit_or(shiftleft(1L, cast(mark & 63 as int))) as bits
            from (select {{ mark_of_key(plan, 'new') }} as mark from {{ plan.view }}__changes as new)
            group by 1
        ) as marked on word.place = marked.place
    )
{%- endmacro %}
