{#-
    Query: all rows of a table that this build creates.
-#}
{% macro first_rows(plan) -%}
    {%- if plan.scd_type == 2 -%}
    select {{ column_names(plan.key_columns + plan.others + [plan.start_column, plan.end_column]) }}
    from ({{ changed_versions(plan, plan.view ~ '__timeline') }})
    {%- else -%}
    select
        {{ column_names(plan.columns) }}
        {{- ', __deleted as is_deleted' if plan.keep_deleted }}
    from (
        {%- if plan.partial %}
        {{ rows_of_states(plan, 'select * from ' ~ plan.view ~ '__changes') }}
        {%- else %}
        {{ changes_to_merge(plan, plan.view ~ '__changes') }}
        {%- endif %}
    )
    where true {{- '' if plan.keep_deleted else ' and not __deleted' }}
    {%- endif -%}
{%- endmacro %}
