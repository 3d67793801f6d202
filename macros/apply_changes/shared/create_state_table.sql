{#-
    Statement that creates or replaces the state table, with data that readers must not see and
    later changes need: empty, or from its first rows.

    `__remembered_at` is when a row was last written; tombstones expire by it.
-#}
{% macro create_state_table(plan, rows='') -%}
    create {{ 'table if not exists' if plan.target_columns else 'or replace table' }} {{ plan.state_table }}
    {%- if not rows %} (
        {%- for name, type in plan.state_columns.items() %}
        `{{ name }}` {{ type }},
        {%- endfor %}
        {{ apply_strategy(plan, 'state_columns') }},
        __remembered_at timestamp
    )
    {%- endif %}
    using delta
    tblproperties ('delta.enableDeletionVectors' = 'true')
    {%- if rows %}
    as select *, current_timestamp() as __remembered_at from ({{ rows }})
    {%- endif %}
{%- endmacro %}
