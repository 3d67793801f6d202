{#-
    Statement that deletes state older than `tombstone_retention`; the state of existing rows is
    kept.
-#}
{% macro expire_tombstones(plan) -%}
    delete from {{ plan.state_table }}
    where __remembered_at < current_timestamp() - interval '{{ plan.tombstone_retention }}'
        {{- ' and `' ~ plan.key_columns[0] ~ '` is not null' if plan.snapshot_by }}
        and {{ apply_strategy(plan, 'expired') }}
{%- endmacro %}
