{#-
    The schema's name is the medal, as configured, without the target's schema before it.

    The catalog belongs to one lake, so nothing needs a prefix; a second environment is a
    second lake.
-#}
{% macro generate_schema_name(custom_schema_name, node) -%}
    {{ (custom_schema_name or target.schema) | trim }}
{%- endmacro %}
