{#-
    Create an empty view with the columns of a declared stream that has not run yet.

    A hash of the view's text is stored as a property of the view, so an unchanged declaration costs
    no statement.
-#}
{% macro register_empty_stream(stream) -%}
    {%- set columns = [] -%}
    {%- for name, type in empty_stream_columns(stream).items() -%}
        {%- do columns.append('cast(null as ' ~ type ~ ') as `' ~ name ~ '`') -%}
    {%- endfor -%}
    {%- set query = 'select ' ~ columns | join(', ') ~ ' where false' -%}
    {%- set relation = api.Relation.create(
        schema='bronze', identifier=stream.identifier, type='view'
    ) -%}
    {%- do invocation_cache().newest.update({relation | string: -1}) -%}
    {%- set known = adapter.get_relation(none, 'bronze', stream.identifier) -%}
    {%- if known and not known.is_view -%}
        {#- A registered table whose folder is gone: the lake was emptied by hand. -#}
        {%- do adapter.drop_relation(known) -%}
    {%- endif -%}
    {%- if not (known and known.is_view and local_md5(query) in (known.information or '')) -%}
        {%- do run_query(
            'create or replace view ' ~ relation ~ " tblproperties ('headwater.code' = '"
            ~ local_md5(query) ~ "') as " ~ query
        ) -%}
        {%- if not known -%}{%- do adapter.cache_added(relation) -%}{%- endif -%}
    {%- endif -%}
{%- endmacro %}
