{#-
    Statements that turn full extracts into changes: each extract is compared with the one before
    it, the first one with the table. New or different rows are upserts, missing rows are deletes
    (`__gone`).

    An extract that is not newer than the newest applied one is skipped. Each statement creates a
    view, because Spark does not recognize a cached query that has nested CTEs.
-#}
{% macro changes_of_extracts(plan) -%}
    {%- set extract = '`' ~ plan.snapshot_by ~ '`' -%}
    {%- set compared = comparable_columns(plan, plan.data, 'one_row') -%}
    {%- set carried = plan.read_columns | reject('in', plan.key_columns + [plan.snapshot_by]) | list -%}
    create or replace temporary view {{ plan.view }}__new_extracts as
    select
        {%- for name, type in plan.read_columns.items() %}
        {% if name in plan.input_columns -%} cast(`{{ name }}` as {{ type }})
        {%- else -%} cast(null as {{ type }}) {%- endif %} as `{{ name }}`{{ ',' if not loop.last }}
        {%- endfor %}
    from {{ plan.extracts }}
    {%- if plan.has_state %}
    where {{ extract }} > ({{ newest_extract(plan) }})
        or ({{ newest_extract(plan) }}) is null
        or {{ extract }} is null
    {%- endif %}
    {{ next_statement() }}
    create or replace temporary view {{ plan.view }}__steps as
    select extract, lead(extract) over (order by extract) as next_extract
    from (
        select distinct {{ extract }} as extract
        from {{ plan.view }}__new_extracts
        where {{ extract }} is not null
    )
    {{ next_statement() }}
    create or replace temporary view {{ plan.view }}__before as
    select
        {{ column_names(plan.key_columns, 'one_row') }},
        steps.next_extract as extract,
        {{ compared }} as content
    from {{ plan.view }}__new_extracts as one_row
    inner join {{ plan.view }}__steps as steps on one_row.{{ extract }} = steps.extract
    where steps.next_extract is not null
    {%- if plan.target_columns %}
    union all
    select
        {{ column_names(plan.key_columns, 'one_row') }},
        (select min(extract) from {{ plan.view }}__steps),
        {{ compared }}
    from {{ plan.target }} as one_row
    where {{ plan.is_current }}
    {%- endif %}
    {{ next_statement() }}
    create or replace temporary view {{ plan.input }} as
    select
        {%- for name in plan.key_columns %}
        coalesce(one_row.`{{ name }}`, before.`{{ name }}`) as `{{ name }}`,
        {%- endfor %}
        coalesce(one_row.{{ extract }}, before.extract) as {{ extract }},
        {%- for name in carried %}
        one_row.`{{ name }}`,
        {%- endfor %}
        before.extract is not null and one_row.{{ extract }} is null as __gone
    from {{ plan.view }}__new_extracts as one_row
    full outer join {{ plan.view }}__before as before
        on {{ equal_columns(plan.key_columns, 'one_row', 'before') }}
        and one_row.{{ extract }} = before.extract
    where (one_row.{{ extract }} is not null or before.extract is not null
            or coalesce({{ 'one_row.`' ~ plan.key_columns | join('`, one_row.`') ~ '`' }}) is not null)
        and not (before.extract is not null and one_row.{{ extract }} is not null
            and {{ compared }} <=> before.content)
{%- endmacro %}
