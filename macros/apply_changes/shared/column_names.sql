{#-
    SQL list of column names, each qualified with `relation`: "new.`a`, new.`b`".
-#}
{% macro column_names(names, relation='') -%}
    {%- for name in names -%}
        {{ relation ~ '.' if relation }}`{{ name }}`{{ ', ' if not loop.last }}
    {%- endfor -%}
{%- endmacro %}
