{#-
    `column in (…)` with the values that the rows of `condition` have; a range where they are
    too many to list.
-#}
{% macro values_condition(column, relation, condition) -%}
    {%- set query -%}
        select
            typeof(any_value({{ column }})) as type,
            array_join(array_sort(collect_set({{ column }})), ',') as found
        from {{ relation }}
        where {{ condition }}
    {%- endset -%}
    {%- set row = run_query(query).rows[0] -%}
    {%- set literals = [] -%}
    {%- for value in (row['found'] or '').split(',') if value -%}
        {%- do literals.append(typed_literal(row['type'], value)) -%}
    {%- endfor -%}
    {%- if row['found'] and not typed_literal(row['type'], '0') -%}
        {%- do exceptions.raise_compiler_error(
            this ~ ': touched() works on date, timestamp and whole-number columns, and '
            ~ column ~ ' of ' ~ relation ~ ' is ' ~ row['type']
        ) -%}
    {%- endif -%}
    {%- if not literals -%}
        false
    {%- elif literals | length > 400 -%}
        {{ column }} between {{ literals | first }} and {{ literals | last }}
    {%- else -%}
        {{ column }} in ({{ literals | join(', ') }})
    {%- endif -%}
{%- endmacro %}
