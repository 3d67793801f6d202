{#-
    SQL condition that two relations have equal values in some columns:
    "new.`a` = old.`a` and new.`b` = old.`b`".
-#}
{% macro equal_columns(names, left, right, operator='=') -%}
    {%- for name in names -%}
        {{ left }}.`{{ name }}` {{ operator }} {{ right }}.`{{ name }}`{{ ' and ' if not loop.last }}
    {%- endfor -%}
{%- endmacro %}
