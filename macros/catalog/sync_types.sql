{#-
    Create a view for each event type that is new or changed since the catalog's last
    synchronization. If nothing has changed, that costs two short statements, or one if this process
    has already checked the same types.

    The newest batches are looked up first. `ingest` records a type before it writes the type's
    first batch, so the views show all that this invocation reads.
-#}
{% macro sync_types() -%}
    {%- if adapter.get_relation(none, 'ops', 'event_types') is not none -%}
        {%- for stream in graph.sources.values()
            if stream.config.meta and stream.config.meta.ingest and event_payload(stream) -%}
            {%- do newest_batch(api.Relation.create(
                schema='bronze', identifier=stream.identifier
            ), '_batch_id') -%}
        {%- endfor -%}
        {%- set schemas = run_query('show databases').columns[0].values() | list -%}
        {%- set looked_at = local_md5(driver_state().get('types_changed') ~ schemas | sort) -%}
        {%- if not driver_state() or graph.get('headwater_types_shown') != looked_at -%}
            {%- set are_shown = sync_changed_types(schemas) -%}
            {%- do graph.update({
                'headwater_types_shown': looked_at if are_shown else none,
                'headwater_types_waiting': not are_shown,
            }) -%}
        {%- endif -%}
    {%- endif -%}
{%- endmacro %}
