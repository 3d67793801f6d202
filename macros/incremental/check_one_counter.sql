{#-
    Fail if a view shows rows of tables that are numbered each by itself: the newest number of one
    says nothing of the other's rows.
-#}
{% macro check_one_counter(relation, column) -%}
    {%- set counters = [] -%}
    {%- do counters_of(relation, counters) -%}
    {%- if counters | length > 1 -%}
        {%- do exceptions.raise_compiler_error(
            this ~ ': ' ~ column ~ ' of the view ' ~ relation ~ ' numbers rows of ' ~ counters | join(' and of ')
            ~ ', each by itself, so that it does not say which are new; read these tables by name in the model, or '
            ~ 'make the view an incremental model that selects build_id() as _build_id'
        ) -%}
    {%- endif -%}
{%- endmacro %}
