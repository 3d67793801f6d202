{#-
    Start a change data feed on this table under a new name, and return the name.

    Used if the table has no feed, or if Delta cannot read its feed across an altered schema, such
    as a widened type.
-#}
{% macro start_feed() -%}
    {%- do run_query(
        'alter table ' ~ this ~ " set tblproperties ('delta.enableChangeDataFeed' = 'true', "
        ~ "'headwater.feed' = '" ~ invocation_id ~ "')"
    ) -%}
    {{- return(this ~ '@' ~ invocation_id) -}}
{%- endmacro %}
