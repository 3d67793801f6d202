{#-
    Return a SQL literal from a value's text and its type's name; none for types whose order Delta's
    file statistics do not keep.

    Delta skips files by literals, not by expressions such as a cast. It parses the text of a
    condition a second time, when a dollar sign and an opening brace would begin a variable, so
    texts with both get no literal. A slash is written as its code point, so that no text ends a
    marker comment (`incremental_filter`).
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
