{#-
    Query: the column states of the input merged with those of the state table; `__is_news` marks
    states that the merge changes.

    A sort-merge join, as in `changed_rows`: Spark estimates sizes from files, and rows that are a
    hundred times as large would have to fit in memory.
-#}
{% macro merged_states(plan, states) -%}
    {%- set place = {} -%}
    {%- for name in plan.others -%}
        {%- do place.update({name: '.__positions[' ~ sql_text(name) ~ ']' if name in plan.partial
            else '.__row_position'}) -%}
    {%- endfor -%}
    select /*+ merge(old) */
        {{ column_names(plan.key_columns, 'new') }},
        {%- for name in plan.others %}
            {%- if name == '_batch_id' %}
        greatest(new._batch_id, old._batch_id) as _batch_id,
            {%- else %}
        if(greatest(new{{ place[name] }}, old{{ place[name] }}) <=> old{{ place[name] }},
            old.`{{ name }}`, new.`{{ name }}`) as `{{ name }}`,
            {%- endif %}
        {%- endfor %}
        map(
            {%- for name in plan.partial %}
            {{ sql_text(name) }}, greatest(new{{ place[name] }}, old{{ place[name] }}){{ ', ' if not loop.last }}
            {%- endfor %}
        ) as __positions,
        greatest(new.__row_position, old.__row_position) as __row_position,
        greatest(new.__deleted_position, old.__deleted_position) as __deleted_position,
        {% for kind in ('__row_position', '__deleted_position') -%}
        not (greatest(new.{{ kind }}, old.{{ kind }}) <=> old.{{ kind }}) or {% endfor -%}
        {%- for name in plan.partial %}
        not (greatest(new{{ place[name] }}, old{{ place[name] }}) <=> old{{ place[name] }}){{ ' or' if not loop.last }}
        {%- endfor %} as __is_news,
        coalesce(new.__row_position < old.__row_position, false) as __is_late,
        new.__tied
    from {{ states }} as new
    left join ({{ rows_that_change(plan, states, plan.state_table) }}) as old
        on {{ equal_columns(plan.key_columns, 'new', 'old') }}
{%- endmacro %}
