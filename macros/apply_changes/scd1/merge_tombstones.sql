{#-
    Statement that merges the tombstones and positions of an SCD 1 table into its state table; the
    newest change of a key wins.

    It runs before the merge into the table: if a build is killed in between, the next one finds
    here what it must apply again.
-#}
{% macro merge_tombstones(plan, newest) -%}
    merge into {{ plan.state_table }} as old
    using ({{ tombstones(plan, newest) }}) as new
    on {{ equal_columns(plan.key_columns, 'new', 'old', '<=>') }}
    when matched and new.__position > old.__position then update set
        __position = new.__position,
        __deleted = new.__deleted,
        __remembered_at = current_timestamp()
    when not matched then insert ({{ column_names(plan.key_columns) }}, __position, __deleted, __remembered_at)
    values ({{ column_names(plan.key_columns, 'new') }}, new.__position, new.__deleted, current_timestamp())
{%- endmacro %}
