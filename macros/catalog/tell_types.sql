{#-
    Keep in the catalog what it was told of types of events, so that a lost one is told again.

    `state` tells which commit of `ops.event_types` it knows all of. Of each stream (hashed, for
    Spark hides properties that look like secrets) there is when the newest type that is known
    changed, and which batch was the newest then. They are properties of a view, because Hive
    alters no schema whose path has a blank in it.
-#}
{% macro tell_types(told) -%}
    {%- set properties = [] -%}
    {%- for key, value in told.items() -%}
        {%- do properties.append("'headwater.types." ~ key ~ "' = '" ~ value ~ "'") -%}
    {%- endfor -%}
    {%- do run_query(
        'create or replace view ops.shown_types '
        ~ ('tblproperties (' ~ properties | join(', ') ~ ') ' if properties else '')
        ~ "as select stream, event_type, concat(table_schema, '.', table_name) as name, version, "
        ~ 'pending, first_seen, last_grown from ops.event_types'
    ) -%}
{%- endmacro %}
