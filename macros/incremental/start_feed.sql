{#-
    Let the table's change data feed begin here, under a new name: where it had none, and where
    Delta cannot read across what has just been altered, such as a wider type.
-#}
{% macro start_feed() -%}
    {%- do run_query(
        'alter table ' ~ this ~ " set tblproperties ('delta.enableChangeDataFeed' = 'true', "
        ~ "'headwater.feed' = '" ~ invocation_id ~ "')"
    ) -%}
    {{- return(this ~ '@' ~ invocation_id) -}}
{%- endmacro %}
