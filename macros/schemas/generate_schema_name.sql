{#-
    Return the configured schema name (the medallion layer) without the target's schema as prefix.

    A catalog belongs to one lake, so names need no prefix; a second environment is a second lake.
-#}
{% macro generate_schema_name(custom_schema_name, node) -%}
    {{ (custom_schema_name or target.schema) | trim }}
{%- endmacro %}
