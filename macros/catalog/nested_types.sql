{#-
    Return nested column types from flat paths:
    {'a': int, 'b.c': string, 'b.d': date} becomes {'a': int, 'b': struct<c: string, d: date>}.
-#}
{% macro nested_types(paths) -%}
    {%- set types = {} -%}
    {%- set inner = {} -%}
    {%- for path, type in paths.items() -%}
        {%- if '.' in path -%}
            {%- set head, rest = path.split('.', 1) -%}
            {%- do types.update({head: none}) -%}
            {%- do inner.setdefault(head, {}).update({rest: type}) -%}
        {%- elif path not in types -%}
            {%- do types.update({path: type}) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- for head, fields in inner.items() -%}
        {%- set members = [] -%}
        {%- for name, type in nested_types(fields).items() -%}
            {%- do members.append('`' ~ name ~ '`: ' ~ type) -%}
        {%- endfor -%}
        {%- do types.update({head: 'struct<' ~ members | join(', ') ~ '>'}) -%}
    {%- endfor -%}
    {{- return(types) -}}
{%- endmacro %}
