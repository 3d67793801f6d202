{#-
    Query of one value: the position of the newest truncate event.

    The state table keeps it in a row without keys, in the column `position`; `plan.truncates` is
    the number of truncate events in the input.
-#}
{% macro truncation(plan, position) -%}
    select max(__emptied) as __emptied
    from (
        select cast(null as {{ position_type(plan) }}) as __emptied
        {%- if plan.has_memory %}
        union all
        select {{ position }}
        from {{ plan.memory }}
        where isnull(`{{ plan.key_columns | join('`) and isnull(`') }}`)
        {%- endif %}
        {%- if plan.truncates %}
        union all
        {{ truncating_changes(plan) }}
        {%- endif %}
    )
{%- endmacro %}
