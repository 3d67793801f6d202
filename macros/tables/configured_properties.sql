{#-
    Return the properties that the model configures for its table or view: {name: text}.

    A tag of dbt-databricks (`databricks_tags`) is the property `tag.<name>`, because Spark reserves
    names such as `owner`; a tag without a value is an empty text.
-#}
{% macro configured_properties() -%}
    {%- set properties = {} -%}
    {%- for name, value in (model_option('databricks_tags') or {}).items() -%}
        {%- do properties.update({'tag.' ~ name: (value if value is not none else '') | string}) -%}
    {%- endfor -%}
    {%- for name, value in (model_option('tblproperties') or {}).items() -%}
        {%- do properties.update({name: value | string | lower if value is boolean else value | string}) -%}
    {%- endfor -%}
    {{- return(properties) -}}
{%- endmacro %}
