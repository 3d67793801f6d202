{#-
    The rows that a feed tells of between two versions, the first one excluded, as a relation:
    new ones, and those that were replaced or removed, as they were.

    By the table's path: of a table that a query names twice, once with its changes, Spark reads
    only one of the two (`tests/build/test_feeds.py` shows when that is mended).
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
