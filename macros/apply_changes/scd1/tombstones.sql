{#-
    Query: the state that an SCD 1 table cannot show. These are the tombstones of deleted keys, the
    newest truncate event and, if the table lacks the columns that order changes, the position of
    each row.
-#}
{% macro tombstones(plan, newest) -%}
    select {{ column_names(plan.key_columns, 'new') }}, new.__position, new.__deleted
    from {{ newest }} as new
    {%- if not plan.is_hidden %}
    where new.__deleted
    {%- endif -%}
    {%- if plan.truncates %}
    union all
    select
        {%- for name in plan.key_columns %}
        cast(null as {{ plan.columns[name] }}),
        {%- endfor %}
        max(__truncate_position),
        true
    from ({{ truncate_events(plan) }})
    {%- endif %}
{%- endmacro %}
