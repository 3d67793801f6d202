{#-
    Query: the newest change of each key, the number of its changes and how many of them tied.
-#}
{% macro newest_changes(plan, changes) -%}
    select
        {{ column_names(plan.key_columns, 'one_key') }},
        one_key.__newest.*,
        one_key.__position,
        one_key.__changes,
        one_key.__tied
    from (
        select
            {{ column_names(plan.key_columns, 'new') }},
            max(new.__position) as __position,
            max_by(
                struct({{ column_names(plan.others, 'new') }}
                    {{- ', ' if plan.others }}new.__deleted), new.__position
            ) as __newest,
            count(*) as __changes,
            {{ tied_changes(plan, 'new') }} as __tied
        from ({{ changes }}) as new
        group by {{ column_names(plan.key_columns, 'new') }}
    ) as one_key
{%- endmacro %}
