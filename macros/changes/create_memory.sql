{#-
    Statement that creates or replaces the state table (`__memory`), with data that readers must not
    see and later changes need: empty, or from its first rows.
-#}
{% macro create_memory(plan, rows='') -%}
    create {{ 'table if not exists' if plan.target_columns else 'or replace table' }} {{ plan.memory }}
    {%- if not rows %} (
        {%- for name, type in plan.columns.items() if name in plan.key_columns or plan.scd_type == 2 or plan.partial %}
        `{{ name }}` {{ type }},
        {%- endfor %}
        {%- if plan.partial and plan.scd_type == 1 %}
        __positions map<string, {{ position_type(plan) }}>,
        __row_position {{ position_type(plan) }},
        __deleted_position {{ position_type(plan) }},
        {%- else %}
        __position {{ position_type(plan) }},
        __deleted boolean,
        {{ '__unset array<string>,' if plan.scd_type == 2 }}
        {%- endif %}
        __remembered_at timestamp
    )
    {%- endif %}
    using delta
    tblproperties ('delta.enableDeletionVectors' = 'true')
    {%- if rows %}
    as select *, current_timestamp() as __remembered_at from ({{ rows }})
    {%- endif %}
{%- endmacro %}
