{#-
    Return the change data feed of a table after version `watermark` up to version `newest`, as a
    relation: inserted rows, updated rows before and after the update, and deleted rows.

    The feed is read by the table's path: if a query names a table twice, once with its changes,
    Spark reads only one of the two (`tests/build/test_feeds.py` fails when Spark fixes that).
-#}
{% macro changes_since(table, watermark, newest) -%}
    {%- set paths = invocation_cache().paths -%}
    {%- if table not in paths -%}
        {%- do paths.update({
            table: run_query('describe detail ' ~ table).rows[0]['location']
        }) -%}
    {%- endif -%}
    table_changes_by_path({{ sql_literal(paths[table]) }}, {{ watermark + 1 }}, {{ newest }})
{%- endmacro %}
