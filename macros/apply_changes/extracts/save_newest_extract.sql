{#-
    Statements that record the newest applied extract in the state table. They run after the table
    is written, so a build after a killed one compares the same extracts again.
-#}
{% macro save_newest_extract(plan) -%}
    {%- if plan.snapshot_by -%}
        {%- if not plan.has_state and not plan.needs_state -%}
    {{ create_state_table(plan) }}
    {{ next_statement() }}
        {%- endif %}
    merge into {{ plan.state_table }} as old
    using (
        select
            {%- for name in plan.key_columns %}
            cast(null as {{ plan.columns[name] }}) as `{{ name }}`,
            {%- endfor %}
            named_struct('s1', newest, 'rank', {{ plan.delete_rank }}, 'content', 0L) as __position
        from (
            select max(cast(`{{ plan.snapshot_by }}` as {{ plan.read_columns[plan.snapshot_by] }})) as newest
            from {{ plan.extracts }}
        )
        where newest is not null
    ) as new
    on {{ equal_columns(plan.key_columns, 'new', 'old', '<=>') }}
    when matched and new.__position > old.__position then update set __position = new.__position
    when not matched then insert (__position, __deleted, __remembered_at)
    values (new.__position, true, current_timestamp())
    {%- endif -%}
{%- endmacro %}
