{#-
    Return why a plan is invalid and how to correct it; an empty text if it is valid.
-#}
{% macro plan_problems(plan) -%}
    {%- set known = plan.input_columns | list -%}
    {%- set problems = [] -%}
    {%- for what, names in {
        'keys': plan.key_columns,
        'sequence_by': plan.sequence_by,
        'source_position': plan.source_position,
        'snapshot_by': [plan.snapshot_by] if plan.snapshot_by else [],
        'column_list': plan.column_list,
        'except_column_list': plan.except_column_list,
        'track_history_column_list': plan.track_history_column_list,
        'track_history_except_column_list': plan.track_history_except_column_list,
        'ignore_null_updates_column_list': plan.ignore_null_updates_column_list,
        'ignore_null_updates_except_column_list': plan.ignore_null_updates_except_column_list,
        'columns_to_update': [plan.columns_to_update] if plan.columns_to_update is string
            and plan.columns_to_update else plan.columns_to_update or [],
    }.items() -%}
        {%- if not names and what in ('keys', 'sequence_by') -%}
            {%- do problems.append('needs ' ~ what ~ ' in config()') -%}
        {%- endif -%}
        {%- for name in names if name not in known -%}
            {%- do problems.append(
                what ~ ': the input has no column ' ~ name ~ '; it has ' ~ known | join(', ')
            ) -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- for one, other in [
        ('column_list', 'except_column_list'),
        ('track_history_column_list', 'track_history_except_column_list'),
        ('ignore_null_updates_column_list', 'ignore_null_updates_except_column_list'),
    ] if plan[one] and plan[other] -%}
        {%- do problems.append('give ' ~ one ~ ' or ' ~ other ~ ', not both') -%}
    {%- endfor -%}
    {%- if plan.snapshot_by and (plan.apply_as_truncates or plan.source_position or plan.partial) -%}
        {%- do problems.append(
            'snapshot_by cannot be combined with apply_as_truncates, source_position or partial updates'
        ) -%}
    {%- endif -%}
    {%- if plan.scd_type not in (1, 2) -%}
        {%- do problems.append('stored_as_scd_type is 1 or 2, not ' ~ plan.scd_type) -%}
    {%- elif plan.strategy == 'scd2' -%}
        {%- for name in ['apply_as_truncates', 'keep_deleted'] if plan[name] -%}
            {%- do problems.append(name ~ ' needs stored_as_scd_type 1') -%}
        {%- endfor -%}
        {%- for name in plan.source_position if name not in plan.columns -%}
            {%- do problems.append('source_position ' ~ name ~ ' must be a column of the table') -%}
        {%- endfor -%}
    {%- elif plan.track_history_column_list or plan.track_history_except_column_list -%}
        {%- do problems.append('tracked columns need stored_as_scd_type 2') -%}
    {%- endif -%}
    {%- for name in plan.key_columns if name in known and name not in plan.columns -%}
        {%- do problems.append('key ' ~ name ~ ' must be a column of the table') -%}
    {%- endfor -%}
    {%- for name, type in plan.columns.items() if plan.target_columns.get(name, type) != type -%}
        {%- if not type -%}
            {%- do problems.append(
                name ~ ' is ' ~ plan.target_columns[name] ~ ' in the table and '
                ~ plan.input_columns[name] ~ ' in the input; cast it in the model'
                ~ ', or rebuild the table with --full-refresh'
            ) -%}
        {%- elif name in plan.sequence_by + plan.source_position -%}
            {%- do problems.append(
                name ~ ' orders changes, and its type is ' ~ type
                ~ ' now; rebuild the table with --full-refresh'
            ) -%}
        {%- endif -%}
    {%- endfor -%}
    {{ problems | join('; ') }}
{%- endmacro %}
