{#-
    Statement that deletes state older than `tombstone_retention`; the state of existing rows is
    kept.
-#}
{% macro forget_changes(plan) -%}
    delete from {{ plan.memory }}
    where __remembered_at < current_timestamp() - interval '{{ plan.tombstone_retention }}'
        {{- ' and `' ~ plan.key_columns[0] ~ '` is not null' if plan.snapshot_by }}
        {{- ' and __deleted' if plan.scd_type == 1 and not plan.partial }}
        {{- ' and coalesce(__row_position < __deleted_position, __row_position is null)'
            if plan.scd_type == 1 and plan.partial }}
{%- endmacro %}
