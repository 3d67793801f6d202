{#-
    Append to `into` the names of the tables that number a relation's rows: the stream's table where
    models carry `_batch_id` on from it, otherwise the table itself.
-#}
{% macro counters_of(relation, into) -%}
    {%- set tables = counted_tables(relation) -%}
    {%- set read = [] -%}
    {%- for name in recorded_watermarks(relation) if '@' not in name -%}{%- do read.append(name) -%}{%- endfor -%}
    {%- for table in tables -%}
        {%- do counters_of(table, into) -%}
    {%- endfor -%}
    {%- if not tables and read | length == 1 and read[0] != relation | string -%}
        {%- set schema, identifier = read[0].split('.') -%}
        {%- do counters_of(api.Relation.create(schema=schema, identifier=identifier), into) -%}
    {%- elif not tables and relation | string not in into -%}
        {%- do into.append(relation | string) -%}
    {%- endif -%}
{%- endmacro %}
