{#-
    Return whether the model is written in Python.
-#}
{% macro is_python_model() -%}
    {{- return(model.original_file_path.endswith('.py')) -}}
{%- endmacro %}
