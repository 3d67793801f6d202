{#-
    Return the plan of this build: the model's configuration, and the columns of its input and
    table. Fails if the plan is invalid.
-#}
{% macro build_plan(query) -%}
    {%- set existing = load_cached_relation(this) -%}
    {%- set is_there = existing and existing.is_delta and not should_full_refresh() -%}
    {%- set view = '__' ~ this.schema ~ '__' ~ this.identifier -%}
    {%- do run_query('create or replace temporary view ' ~ view ~ '__input as ' ~ query) -%}
    {%- set state = companion_table('memory') -%}
    {%- set plan = apply_changes_config() -%}
    {%- do plan.update({
        'view': view,
        'input': view ~ '__input',
        'target': this | string,
        'state_table': companion_table('memory', false) | string,
        'has_state': true if state and is_there else false,
        'is_state_stale': true if state and not is_there else false,
        'is_expiry_due': is_expiry_due(),
        'adds_columns': config.get('on_schema_change') != 'ignore',
        'input_columns': column_types(view ~ '__input'),
        'target_columns': column_types(this) if is_there else {},
        'target_bytes': driver_state().table_bytes(this.schema, this.identifier) if driver_state() else none,
    }) -%}
    {%- do plan_changes(plan) -%}
    {%- set problem = plan_problems(plan) | trim -%}
    {%- if problem -%}
        {%- do exceptions.raise_compiler_error(this ~ ': ' ~ problem) -%}
    {%- endif -%}
    {{- return(plan) -}}
{%- endmacro %}
