{#-
    Statement that merges the events that versions do not show into the state table.

    It deletes nothing and runs before the merge into the table: if a build is killed in between,
    the next one finds all earlier events and makes the same versions from them.
-#}
{% macro merge_events(plan, events) -%}
    merge into {{ plan.state_table }} as old
    using ({{ events }}) as new
    on {{ equal_columns(plan.key_columns, 'new', 'old') }}
        {%- for _ in plan.sequence_by %}
        and new.__position.s{{ loop.index }} = old.__position.s{{ loop.index }}
        {%- endfor %}
    when matched then update set
        {%- for name in plan.others %}
        `{{ name }}` = new.`{{ name }}`,
        {%- endfor %}
        __position = new.__position,
        __deleted = new.__deleted,
        __unset = new.__unset,
        __remembered_at = current_timestamp()
    when not matched then insert (
        {{ column_names(plan.columns) }}, __position, __deleted, __unset, __remembered_at
    ) values (
        {{ column_names(plan.columns, 'new') }}, new.__position, new.__deleted, new.__unset,
        current_timestamp()
    )
{%- endmacro %}
