{#-
    Return the plan of this build: the model's configuration, and the columns of its input and
    table. Fails if the plan is invalid.
-#}
{% macro plan_of_build(query) -%}
    {%- set existing = load_cached_relation(this) -%}
    {%- set is_there = existing and existing.is_delta and not should_full_refresh() -%}
    {%- set view = '__' ~ this.schema ~ '__' ~ this.identifier -%}
    {%- do run_query('create or replace temporary view ' ~ view ~ '__input as ' ~ query) -%}
    {%- set memory = sibling('memory') -%}
    {%- set plan = declared_changes() -%}
    {%- do plan.update({
        'view': view,
        'input': view ~ '__input',
        'target': this | string,
        'memory': sibling('memory', false) | string,
        'has_memory': true if memory and is_there else false,
        'is_memory_stale': true if memory and not is_there else false,
        'is_forgetting': is_time_to_forget(),
        'adds_columns': config.get('on_schema_change') != 'ignore',
        'input_columns': column_types(view ~ '__input'),
        'target_columns': column_types(this) if is_there else {},
        'target_bytes': driver_facts().table_bytes(this.schema, this.identifier) if driver_facts() else none,
    }) -%}
    {%- do plan_changes(plan) -%}
    {%- set problem = refused_plan(plan) | trim -%}
    {%- if problem -%}
        {%- do exceptions.raise_compiler_error(this ~ ': ' ~ problem) -%}
    {%- endif -%}
    {{- return(plan) -}}
{%- endmacro %}
