{#-
    Return the change data feed of a table after version `mark` up to version `newest`, as a
    relation: inserted rows, updated rows before and after the update, and deleted rows.

    The feed is read by the table's path: if a query names a table twice, once with its changes,
    Spark reads only one of the two (`tests/build/test_feeds.py` fails when Spark fixes that).
-#}
{% macro changes_since(table, mark, newest) -%}
    {%- set places = build_memory().places -%}
    {%- if table not in places -%}
        {%- do places.update({
            table: run_query('describe detail ' ~ table).rows[0]['location']
        }) -%}
    {%- endif -%}
    table_changes_by_path({{ sql_literal(places[table]) }}, {{ mark + 1 }}, {{ newest }})
{%- endmacro %}
