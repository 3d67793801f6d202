{#-
    Query: the state of each key after the input's partial updates, column by column.

    Each column has the newest value that a change set, and the position of that change. The greater
    position wins, so states can be merged in any order, any number of times.
-#}
{% macro column_states(plan, changes) -%}
    select
        {{ column_names(plan.key_columns, 'new') }},
        {%- for name in plan.others %}
            {%- if name == '_batch_id' %}
        max(new._batch_id) as _batch_id,
            {%- else %}
        max_by(new.`{{ name }}`, new.__position)
            filter (where not new.__deleted and {{ is_set(plan, 'new', name) }}) as `{{ name }}`,
            {%- endif %}
        {%- endfor %}
        map(
            {%- for name in plan.partial %}
            {{ sql_text(name) }}, max(new.__position)
                filter (where not new.__deleted and {{ is_set(plan, 'new', name) }}){{ ', ' if not loop.last }}
            {%- endfor %}
        ) as __positions,
        max(new.__position) filter (where not new.__deleted) as __row_position,
        max(new.__position) filter (where new.__deleted) as __deleted_position,
        {{ tied_changes(plan, 'new') }} as __tied
    from ({{ changes }}) as new
    group by {{ column_names(plan.key_columns, 'new') }}
{%- endmacro %}
