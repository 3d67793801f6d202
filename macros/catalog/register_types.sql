{#-
    The table of each type of event, as a view: of those that are new or changed since this
    catalog was last told. Where nothing has changed, two short statements say so.

    The newest batches are looked up first. `ingest` writes a type down before the batch that
    brings it lands, so the views show all that this invocation reads.
-#}
{% macro register_types() -%}
    {%- if adapter.get_relation(none, 'ops', 'event_types') is not none -%}
        {%- for stream in graph.sources.values()
            if stream.config.meta and stream.config.meta.ingest and event_payload(stream) -%}
            {%- do newest_batch(api.Relation.create(
                schema='bronze', identifier=stream.identifier
            ), '_batch_id') -%}
        {%- endfor -%}
        {%- set told = told_types() -%}
        {%- set commit = newest_commit('ops', 'event_types') -%}
        {%- set schemas = run_query('show databases').columns[0].values() | list -%}
        {%- if told.pop('state', none) != local_md5(commit ~ schemas | sort) -%}
            {%- if register_changed_types(told, schemas) -%}
                {%- do told.update({'state': local_md5(commit ~ schemas | sort)}) -%}
            {%- endif -%}
            {%- do tell_types(told) -%}
        {%- endif -%}
    {%- endif -%}
{%- endmacro %}
