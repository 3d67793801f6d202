{#-
    Drop the view of a Python model's rows.
-#}
{% macro drop_python_model_view() -%}
    {%- if is_python_model() -%}
        {%- do run_query('drop view if exists ' ~ python_model_view()) -%}
    {%- endif -%}
{%- endmacro %}
