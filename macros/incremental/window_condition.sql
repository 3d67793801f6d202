{#-
    SQL condition for rows in the windows that `values_in` found. A range of time comes first: by it
    Delta skips files, which it does not by an expression.
-#}
{% macro window_condition(window, relation, found) -%}
    {%- set type, values = found -%}
    {%- set condition = values_condition(window_start(window.time, window.size), relation, found) -%}
    {%- set starts = values | reject('none') | list -%}
    {%- if not starts -%}
        {{- return(condition) -}}
    {%- endif -%}
    {%- set range -%}
        {{ window.time }} >= {{ typed_literal(type, starts | first) }}
        and {{ window.time }} < {{ typed_literal(type, starts | last) }} + interval {{ window.size }}
    {%- endset -%}
    {%- set unknown = ' or ' ~ window.time ~ ' is null' if none in values else '' -%}
    {{- return('((' ~ range ~ unknown ~ ') and ' ~ condition ~ ')') -}}
{%- endmacro %}
