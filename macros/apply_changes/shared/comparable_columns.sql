{#-
    SQL expression for several columns as one value that `<=>` can compare.
-#}
{% macro comparable_columns(plan, names, relation) -%}
    struct(0 as nothing
        {%- for name in names -%}
            , {{ comparable_value(relation ~ '.`' ~ name ~ '`', plan.columns[name]) }} as `{{ name }}`
        {%- endfor -%}
    )
{%- endmacro %}
