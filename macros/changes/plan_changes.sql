{#-
    Complete a plan: the columns of the table, and what each of them is.

    A plan is the one argument of all macros in this folder, so that dbt and `ingest` can
    render the same text. The caller gives what is configured (named as in the reference of
    apply_changes), as {name: type} `input_columns` and `target_columns` (empty before the
    first build), and `target_bytes`, the size of the table's files, none where it would have to be
    asked for. Added here:

    columns    {name: type} of the table, without validity and `is_deleted`; no type where
               the input's does not fit
    others     columns that are no keys
    bounded    keys whose least and greatest value bound where changes are
    data       columns that are content: no key, no order, not written by ingest
    tracked    columns whose change makes a version
    partial    columns that a change may leave as they were
    shown      columns that readers see and that ingest did not write
    read_columns  {name: type} of what is read: the columns and the order of changes
    is_hidden  whether the table does not show a row's place in the order of changes
    has_places whether versions show something newer than their first change
    extracts   the input, where it is full extracts; `input` is then the changes between them
    level      how many changes only content tells from what the table has; found by weighing
-#}
{% macro plan_changes(plan) -%}
    {%- set ours = [plan.start_column, plan.end_column] if plan.scd_type == 2
        else ['is_deleted'] if plan.keep_deleted else [] -%}
    {%- set columns = {} -%}
    {%- for name, type in plan.target_columns.items() if name not in ours -%}
        {%- do columns.update({name: type}) -%}
    {%- endfor -%}
    {%- for name, type in plan.input_columns.items() if name not in ours
        and (plan.adds_columns or not plan.target_columns or name in columns)
        and (name in plan.column_list or not plan.column_list)
        and name not in plan.except_column_list -%}
        {%- do columns.update({name: settled_type(columns.get(name, type), type) | trim}) -%}
    {%- endfor -%}
    {%- if plan.snapshot_by -%}
        {%- do plan.update({
            'sequence_by': [plan.snapshot_by],
            'apply_as_deletes': '__gone',
            'extracts': plan.input,
        }) -%}
    {%- endif -%}
    {%- set order = plan.sequence_by + plan.source_position -%}
    {%- set arrival = [
        '_ingested_at', '_batch_id', '_build_id', '_source', '_partition', '_offset', '_key',
        '_headers', '_timestamp', '_schema_id',
    ] -%}
    {%- set others = columns | reject('in', plan.key_columns) | list -%}
    {%- set data = others | reject('in', order) | reject('in', arrival) | list -%}
    {%- set tracked = data | select('in', plan.track_history_column_list) | list
        if plan.track_history_column_list
        else data | reject('in', plan.track_history_except_column_list) | list -%}
    {%- set ignoring = data | select('in', plan.ignore_null_updates_column_list) | list
        if plan.ignore_null_updates_column_list
        else data | reject('in', plan.ignore_null_updates_except_column_list) | list
        if plan.ignore_null_updates or plan.ignore_null_updates_except_column_list else [] -%}
    {%- set read_columns = dict(columns) -%}
    {%- for name in order if name not in columns and name in plan.input_columns -%}
        {%- do read_columns.update({name: plan.input_columns[name]}) -%}
    {%- endfor -%}
    {%- set bounded = [] -%}
    {%- for name in plan.key_columns if columns[name] in
        ('tinyint', 'smallint', 'int', 'bigint', 'date', 'timestamp', 'string') -%}
        {%- do bounded.append(name) -%}
    {%- endfor -%}
    {%- do plan.update({
        'columns': columns,
        'read_columns': read_columns,
        'shown': others | reject('in', arrival) | list,
        'others': others,
        'bounded': bounded,
        'data': data,
        'tracked': tracked,
        'ignoring_nulls': ignoring,
        'partial': data if plan.columns_to_update or plan.unavailable_value else ignoring,
        'is_hidden': order | reject('in', others) | list | length > 0,
        'has_places': tracked | length < data | length or plan.source_position | length > 0,
        'delete_rank': 1 if plan.deletes_win_ties else 0,
        'arrival': arrival,
        'level': 0,
    }) -%}
    {%- if plan.snapshot_by -%}
        {%- do plan.update({'input': plan.view ~ '__extracts'}) -%}
    {%- endif -%}
{%- endmacro %}
