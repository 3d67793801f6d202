{#-
    Create the views of one stream's event types that changed after `changed_after`, in
    microseconds. Return whether the stream's table has all of their columns.

    A new column outside the payload is recorded shortly before the table has it.
-#}
{% macro create_type_views(stream, changed_after) -%}
    {%- set query -%}
        select to_json(array_sort(collect_list(struct(
            table_schema || '.`' || table_name || '`' as name, {{ type_query() }} as query
        ))))
        from ops.event_types
        where stream = {{ sql_literal(stream) }} and unix_micros(changed_at) > {{ changed_after }}
    {%- endset -%}
    {%- for some in fromjson(run_query(query).columns[0].values()[0]) | batch(25) -%}
        {#- One EXPLAIN checks all types; only if it fails is each type checked. -#}
        {%- set all_can = type_view_error(some) is none -%}
        {%- for type in some -%}
            {%- set reason = none if all_can else type_view_error([type]) -%}
            {%- if reason is none -%}
                {%- do run_query('create or replace view ' ~ type.name ~ ' with schema evolution as ' ~ type.query) -%}
            {%- elif 'UNRESOLVED_COLUMN' in reason -%}
                {%- do log(stream ~ ': its types have new columns that the stream table does not have yet', info=true) -%}
                {{- return(false) -}}
            {%- else -%}
                {%- do log(type.name ~ ': cannot create the view: ' ~ reason, info=true) -%}
            {%- endif -%}
        {%- endfor -%}
    {%- endfor -%}
    {{- return(true) -}}
{%- endmacro %}
