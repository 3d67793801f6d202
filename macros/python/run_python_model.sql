{#-
    Run a Python model and return a query of the rows that it returns.

    dbt's plugin runs the code in the session of this process (ingest/spark/python_models.py). From
    there on the model is built like one in SQL.
-#}
{% macro run_python_model(compiled_code) -%}
    {%- if is_sql_endpoint() and not driver_state() -%}
        {%- do exceptions.raise_compiler_error(
            this ~ ': a Python model runs in the Spark session of dbt, which target ' ~ target.name
            ~ ' does not have; use --target local, or let ingest serve build it'
        ) -%}
    {%- endif -%}
    {%- call statement('python_model') -%}
        /* python model {{ model.original_file_path }} as {{ python_model_view() }} */
{{ compiled_code }}
    {%- endcall -%}
    {{- return('select * from ' ~ python_model_view()) -}}
{%- endmacro %}
