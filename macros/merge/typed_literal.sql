{#-
    A value from its text and its type's name; none for a type that files keep no order of.

    Delta passes over files by literals, not by expressions such as a cast.
-#}
{% macro typed_literal(type, text) -%}
    {%- if type in ('date', 'timestamp') -%}
        {{- return(type ~ "'" ~ text ~ "'") -}}
    {%- elif type == 'bigint' -%}
        {{- return(text ~ 'L') -}}
    {%- elif type == 'int' -%}
        {{- return(text) -}}
    {%- endif -%}
    {{- return(none) -}}
{%- endmacro %}
