{#-
    Return whether this target is the SQL endpoint of an `ingest serve`, which answers claims.
-#}
{% macro is_sql_endpoint() -%}
    {{- return(
        run_query("show views in global_temp like 'headwater_serve'").rows | length > 0
    ) -}}
{%- endmacro %}
