{#-
    SQL expression for a hash of a row's content: the last tie-breaker between changes of one
    sequence. `unset` names the columns that a change leaves unchanged.

    Null columns do not affect it, and integers and floats are hashed in their widest type, so the
    hash stays the same when a table gains a column or a type is widened.
-#}
{% macro change_content(plan, relation, unset='') -%}
    {%- if not plan.data -%}
        0L
    {%- else -%}
    xxhash64(
        {%- for name in plan.data -%}
            {%- set value = comparable_value(relation ~ '.`' ~ name ~ '`', plan.columns[name]) -%}
            if({{ value }} is null, null, {{ loop.index }}), {{ value }}{{ ', ' if not loop.last }}
        {%- endfor -%}
        {{ ', ' ~ unset if unset }}
    )
    {%- endif -%}
{%- endmacro %}
