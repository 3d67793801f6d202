{#-
    Remember deletes of an SCD 1 table that shows the order of changes; of a key the newest counts.

    Appended, because a merge takes three jobs for what one does: a key that is deleted again
    has a row more. Deletes that are known, as those of a build that was killed, are left out.
-#}
{% macro append_deletes(plan, newest) -%}
    insert into {{ plan.memory }} ({{ column_names(plan.key_columns) }}, __position, __deleted, __remembered_at)
    select {{ broadcast_hint(plan, 'memory') }} new.*, current_timestamp()
    from ({{ deletes_to_remember(plan, newest) }}) as new
    left join {{ remembered_changes(plan) }} as memory
        on {{ equal_columns(plan.key_columns, 'new', 'memory', '<=>') }}
    where memory.__position is null or new.__position > memory.__position
{%- endmacro %}
