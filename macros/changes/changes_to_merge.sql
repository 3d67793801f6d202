{#-
    The newest change of each key, except where the memory holds a newer one.
-#}
{% macro changes_to_merge(plan, newest) -%}
    select new.*
    from {{ newest }} as new
    {%- if plan.has_memory %}
    left join {{ plan.memory }} as memory
        on {{ equal_columns(plan.key_columns, 'new', 'memory') }}
    {%- endif %}
    where true
        {%- if plan.has_memory %}
        and (memory.__position is null or new.__position >= memory.__position)
        {%- endif %}
        {%- if plan.apply_as_truncates %}
        and new.__position >= coalesce(({{ truncation(plan) }}), new.__position)
        {%- endif %}
{%- endmacro %}
