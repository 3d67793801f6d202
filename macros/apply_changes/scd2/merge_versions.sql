{#-
    Statement that writes the changed versions of an SCD 2 table in one merge.
-#}
{% macro merge_versions(plan, versions) -%}
    {%- set written = plan.others + [plan.start_column, plan.end_column] -%}
    merge into {{ plan.target }} as old
    using ({{ versions }}) as new
    on {{ equal_columns(plan.key_columns + [plan.start_column], 'new', 'old') }} and {{ changed_key_filter(plan) }}
    when matched and new.__effect = 'delete' then delete
    when matched then update set
        {%- for name in written %}
        `{{ name }}` = new.`{{ name }}`{{ ', ' if not loop.last }}
        {%- endfor %}
    when not matched and new.__effect <> 'delete' then insert ({{ column_names(plan.key_columns + written) }})
    values ({{ column_names(plan.key_columns + written, 'new') }})
{%- endmacro %}
