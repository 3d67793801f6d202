{#-
    A value from its text and its type's name; none for a type that files keep no order of.

    Delta passes over files by literals, not by expressions such as a cast. It reads the text of
    a condition a second time, when `${` would be a variable. A slash is written as its number, so
    that no text ends a marker (`unread`).
-#}
{% macro typed_literal(type, text) -%}
    {%- set suffixes = {'int': '', 'bigint': 'L', 'smallint': 'S', 'tinyint': 'Y'} -%}
    {%- if type in ('date', 'timestamp', 'timestamp_ntz') -%}
        {{- return(type ~ "'" ~ text ~ "'") -}}
    {%- elif type in suffixes -%}
        {{- return(text ~ suffixes[type]) -}}
    {%- elif type.startswith('decimal') -%}
        {{- return(text ~ 'BD') -}}
    {%- elif type == 'boolean' -%}
        {{- return(text) -}}
    {%- elif type == 'string' and '${' not in text -%}
        {{- return(sql_literal(text) | replace('/', '\\u002f')) -}}
    {%- endif -%}
    {{- return(none) -}}
{%- endmacro %}
