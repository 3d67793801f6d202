{#-
    Save in the catalog which event types it has, as properties of the view `ops.shown_types`, so
    that a lost catalog registers all types again.

    `state` identifies the commit of `ops.event_types` up to which the catalog is complete. For each
    stream (hashed, because Spark hides properties that look like secrets) it stores when the newest
    registered type changed, and the newest batch at that time. The properties belong to a view,
    because Hive cannot alter a schema whose path contains a blank.
-#}
{% macro save_registered_types(registered) -%}
    {%- set properties = [] -%}
    {%- for key, value in registered.items() -%}
        {%- do properties.append("'headwater.types." ~ key ~ "' = '" ~ value ~ "'") -%}
    {%- endfor -%}
    {%- do run_query(
        'create or replace view ops.shown_types '
        ~ ('tblproperties (' ~ properties | join(', ') ~ ') ' if properties else '')
        ~ "as select stream, event_type, concat(table_schema, '.', table_name) as name, version, "
        ~ 'pending, first_seen, last_grown from ops.event_types'
    ) -%}
{%- endmacro %}
