{#-
    Create the views of new or changed event types and save the registered state in the catalog.
    Return whether the catalog has all types afterwards.
-#}
{% macro show_changed_types(schemas) -%}
    {%- set told = told_types() -%}
    {%- set commit = newest_commit('ops', 'event_types') -%}
    {%- set state = local_md5(commit ~ schemas | sort) -%}
    {%- set is_known = told.pop('state', none) == state -%}
    {%- if not is_known -%}
        {%- set is_known = register_changed_types(told, schemas) -%}
        {%- if is_known -%}{%- do told.update({'state': local_md5(commit ~ schemas | sort)}) -%}{%- endif -%}
        {%- do tell_types(told) -%}
    {%- endif -%}
    {{- return(is_known) -}}
{%- endmacro %}
