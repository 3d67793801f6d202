{#-
    Clustering clause for `liquid_clustered_by` (dbt-databricks' name), or dbt-spark's buckets.
-#}
{% macro spark__clustered_cols(label, required=false) -%}
    {%- set liquid = model_option('liquid_clustered_by') -%}
    {%- if liquid -%}
        cluster by ({{ ([liquid] if liquid is string else liquid) | join(', ') }})
    {%- else -%}
        {{ dbt.spark__clustered_cols(label, required) }}
    {%- endif -%}
{%- endmacro %}
