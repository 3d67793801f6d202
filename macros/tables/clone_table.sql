{#-
    Make the table named `clone` a shallow clone of `original`, and return the day until which VACUUM
    removes no file of it. Without an original, the clone has no rows.

    Delta replaces no table that has rows by a clone, and puts one without a location elsewhere if
    a folder's name has a space. What follows the clone's changes must not read those of the table
    that it replaces: its change data feed gets another name.
-#}
{% macro clone_table(clone, original) -%}
    {%- set schema, name = (clone | string).split('.') -%}
    {%- set original_schema, original_name = (original | string).split('.') -%}
    {%- if adapter.get_relation(none, schema, name) -%}
        {%- do run_query('delete from ' ~ clone) -%}
    {%- endif -%}
    {%- if adapter.get_relation(none, original_schema, original_name) -%}
        {%- set properties = {} -%}
        {%- for row in run_query('show tblproperties ' ~ original).rows -%}
            {%- do properties.update({row[0]: row[1]}) -%}
        {%- endfor -%}
        {%- do run_query(
            'create or replace table ' ~ clone ~ ' shallow clone ' ~ original
            ~ (" tblproperties ('headwater.feed' = '" ~ invocation_id ~ "')"
                if 'headwater.feed' in properties else '')
            ~ " location '${spark.sql.warehouse.dir}/" ~ schema ~ '/' ~ name ~ "'"
        ) -%}
        {%- set kept_for = properties.get('delta.deletedFileRetentionDuration', 'interval 1 week') -%}
        {{- return(run_query('select current_date() + ' ~ kept_for).columns[0].values()[0]) -}}
    {%- endif -%}
{%- endmacro %}
