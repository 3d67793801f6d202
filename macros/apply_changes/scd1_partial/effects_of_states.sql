{#-
    Query: the effects of merged column states on the table (`changed_rows`): upsert, delete, late
    or none.
-#}
{% macro effects_of_states(rows) -%}
    select
        if(__is_late and __effect = 'none', 'late', __effect) as __effect,
        __tied,
        __is_there,
        false as __is_level
    from {{ rows }}
{%- endmacro %}
