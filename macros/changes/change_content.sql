{#-
    A number for the content of a row: the last resort where changes tie.

    A null column changes nothing in it, and integers and floats count in their widest type,
    so that it stays the same when a table gains a column or a type is widened.
    `unset` names the columns that a change leaves as they were.
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
