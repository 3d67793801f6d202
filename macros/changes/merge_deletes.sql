{#-
    Remember what an SCD 1 table cannot show; the newest change of a key counts.

    Before the table itself: a build that is killed in between finds here what it repeats.
-#}
{% macro merge_deletes(plan, newest) -%}
    merge into {{ plan.memory }} as old
    using ({{ deletes_to_remember(plan, newest) }}) as new
    on {{ equal_columns(plan.key_columns, 'new', 'old', '<=>') }}
    when matched and new.__position > old.__position then update set
        __position = new.__position,
        __deleted = new.__deleted,
        __remembered_at = current_timestamp()
    when not matched then insert ({{ column_names(plan.key_columns) }}, __position, __deleted, __remembered_at)
    values ({{ column_names(plan.key_columns, 'new') }}, new.__position, new.__deleted, current_timestamp())
{%- endmacro %}
