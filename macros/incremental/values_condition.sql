{#-
    `column in (…)` with the values that the rows of `condition` have; a range where they are
    too many to list.
-#}
{% macro values_condition(column, relation, condition, counter) -%}
    {%- set told = none -%}
    {%- if driver_facts() -%}
        {#- A view may have been a table, whose folder stays. -#}
        {%- set known = adapter.get_relation(none, relation.schema, relation.identifier) -%}
        {%- if known and known.is_delta -%}
            {%- set told = driver_facts().touched_values(
                [relation.schema, relation.identifier], column, counter,
                batches_read(condition)[relation | string]
            ) -%}
        {%- endif -%}
    {%- endif -%}
    {%- set query -%}
        select
            typeof(any_value({{ column }})) as type,
            array_join(array_sort(collect_set({{ column }})), ',') as found
        from {{ relation }}
        where {{ condition }}
    {%- endset -%}
    {%- if not told -%}
        {%- set row = run_query(query).rows[0] -%}
        {%- set told = row['type'], (row['found'] or '').split(',') | select | list -%}
    {%- endif -%}
    {%- set type, values = told -%}
    {%- if values and not typed_literal(type, '0') -%}
        {%- do exceptions.raise_compiler_error(
            this ~ ': touched() works on date, timestamp and whole-number columns, and '
            ~ column ~ ' of ' ~ relation ~ ' is ' ~ type
        ) -%}
    {%- endif -%}
    {%- set literals = [] -%}
    {%- for value in values -%}{%- do literals.append(typed_literal(type, value)) -%}{%- endfor -%}
    {%- if not literals -%}
        false
    {%- elif literals | length > 400 -%}
        {{ column }} between {{ literals | first }} and {{ literals | last }}
    {%- else -%}
        {{ column }} in ({{ literals | join(', ') }})
    {%- endif -%}
{%- endmacro %}
