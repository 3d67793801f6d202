{#-
    Return how many rows the last commit of a Delta table wrote or deleted, from the commit's
    metrics.

    dbt-spark discards the result of the statement; the table's history keeps the metrics.
-#}
{% macro rows_written(relation) -%}
    {%- set commit = last_commit(relation) -%}
    {%- set metrics = commit['operationMetrics'] -%}
    {%- if metrics is string -%}{%- set metrics = fromjson(metrics) -%}{%- endif -%}
    {%- if commit['operation'] == 'MERGE' -%}
        {{- return(
            metrics['numTargetRowsInserted'] | int
            + metrics['numTargetRowsUpdated'] | int
            + metrics['numTargetRowsDeleted'] | int
        ) -}}
    {%- endif -%}
    {{- return(metrics.get('numOutputRows', 0) | int) -}}
{%- endmacro %}
