{#-
    Create the views of new or changed event types and save the registered state in the catalog.
    Return whether the catalog has all types afterwards.
-#}
{% macro sync_changed_types(schemas) -%}
    {%- set registered = registered_types() -%}
    {%- set commit = newest_commit('ops', 'event_types') -%}
    {%- set state = local_md5(commit ~ schemas | sort) -%}
    {%- set is_known = registered.pop('state', none) == state -%}
    {%- if not is_known -%}
        {%- set is_known = create_changed_type_views(registered, schemas) -%}
        {%- if is_known -%}{%- do registered.update({'state': local_md5(commit ~ schemas | sort)}) -%}{%- endif -%}
        {%- do save_registered_types(registered) -%}
    {%- endif -%}
    {{- return(is_known) -}}
{%- endmacro %}
