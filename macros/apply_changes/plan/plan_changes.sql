{#-
    Complete a plan: choose the strategy, and give the table's columns their roles.

    A plan is an argument of all macros in the folders of `apply_changes`, which only render text,
    so that dbt and `ingest` render the same. The caller gives the configuration (named as in the
    reference of apply_changes), `input_columns` and `target_columns` as {name: type} (the latter
    empty before the first build), and `target_bytes`, the size of the table's files, or none if
    that would cost a query. This macro adds:

    strategy   scd1, scd1_partial or scd2, for `apply_strategy`
    columns    {name: type} of the table, without validity columns and `is_deleted`; the type is
               empty if the input's type does not fit
    others     columns that are not keys
    bounded    keys whose least and greatest values limit where in the table changes are
    data       columns with content: no key, no order of changes, not written by ingest
    tracked    columns whose change starts a version
    partial    columns that a change may leave unchanged
    shown      columns that readers see and that ingest did not write
    read_columns  {name: type} of the columns to read: the table's, and those that order changes
    state_columns  {name: type} of the state table's columns that the table has too
    is_current SQL condition on rows of the table that a full extract must contain
    is_hidden  whether the table lacks columns that order changes
    has_places whether versions show data of changes later than their first one
    extracts   the input, if it consists of full extracts; `input` then has the changes between them
    level      how many changes differ from the table's rows in content at most (`count_effects`)
-#}
{% macro plan_changes(plan) -%}
    {%- set is_history = plan.scd_type == 2 -%}
    {%- set ours = [plan.start_column, plan.end_column] if is_history
        else ['is_deleted'] if plan.keep_deleted else [] -%}
    {%- set columns = {} -%}
    {%- for name, type in plan.target_columns.items() if name not in ours -%}
        {%- do columns.update({name: type}) -%}
    {%- endfor -%}
    {%- for name, type in plan.input_columns.items() if name not in ours
        and (plan.adds_columns or not plan.target_columns or name in columns)
        and (name in plan.column_list or not plan.column_list)
        and name not in plan.except_column_list -%}
        {%- do columns.update({name: widened_type(columns.get(name, type), type) | trim}) -%}
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
    {%- set partial = data if plan.columns_to_update or plan.unavailable_value else ignoring -%}
    {%- set strategy = 'scd2' if is_history else 'scd1_partial' if partial else 'scd1' -%}
    {%- set state_columns = {} -%}
    {%- for name, type in columns.items() if name in plan.key_columns or strategy != 'scd1' -%}
        {%- do state_columns.update({name: type}) -%}
    {%- endfor -%}
    {%- do plan.update({
        'strategy': strategy,
        'columns': columns,
        'read_columns': read_columns,
        'shown': others | reject('in', arrival) | list,
        'others': others,
        'bounded': bounded,
        'data': data,
        'tracked': tracked,
        'ignoring_nulls': ignoring,
        'partial': partial,
        'state_columns': state_columns,
        'is_current': '`' ~ plan.end_column ~ '` is null' if is_history
            else 'not is_deleted' if plan.keep_deleted else 'true',
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
