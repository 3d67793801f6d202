{#-
    Return the model's configuration of `apply_changes` with defaults: the beginning of a plan
    (`plan_changes`).
-#}
{% macro apply_changes_config() -%}
    {%- set plan = {'scd_type': model_option('stored_as_scd_type', 1) | int} -%}
    {%- for name, default in {
        'keep_deleted': false,
        'deletes_win_ties': true,
        'apply_as_deletes': '',
        'apply_as_truncates': '',
        'ignore_null_updates': false,
        'unavailable_value': '',
        'snapshot_by': '',
        'tombstone_retention': '30 days',
        'start_column': '__START_AT',
        'end_column': '__END_AT',
    }.items() -%}
        {%- do plan.update({name: model_option(name, default)}) -%}
    {%- endfor -%}
    {%- for name in [
        'keys', 'sequence_by', 'source_position', 'column_list', 'except_column_list',
        'track_history_column_list', 'track_history_except_column_list',
        'ignore_null_updates_column_list', 'ignore_null_updates_except_column_list',
    ] -%}
        {%- set given = model_option(name) or [] -%}
        {%- do plan.update({
            'key_columns' if name == 'keys' else name: [given] if given is string else given
        }) -%}
    {%- endfor -%}
    {%- do plan.update({'columns_to_update': model_option('columns_to_update') or []}) -%}
    {{- return(plan) -}}
{%- endmacro %}
