{#-
    SQL condition that a value is Debezium's placeholder for a value that was not sent.

    Debezium writes the placeholder into every type that PostgreSQL stores out of line: as text, as
    bytes, as an array of the text, or as an array of its character codes, which are days in an
    array of dates. For hstore it is JSON with the placeholder as key and value.
-#}
{% macro is_toast_placeholder(plan, value, type) -%}
    {%- set text = sql_text(plan.unavailable_value) -%}
    {%- set numbers = 'transform(split(' ~ text ~ ", ''), letter -> " -%}
    {%- if type == 'string' -%}
        {{ value }} in ({{ text }}, to_json(map({{ text }}, {{ text }})))
    {%- elif type == 'binary' -%}
        {{ value }} = cast({{ text }} as binary)
    {%- elif type == 'variant' -%}
        try_variant_get({{ value }}, '$', 'string') = {{ text }}
    {%- elif type == 'array<string>' -%}
        {{ value }} = array({{ text }})
    {%- elif type in ('array<smallint>', 'array<int>', 'array<bigint>') -%}
        {{ value }} = {{ numbers }}cast(ascii(letter) as {{ type[6:-1] }}))
    {%- elif type == 'array<date>' -%}
        {{ value }} = {{ numbers }}date_add(date'1970-01-01', ascii(letter)))
    {%- elif type == 'map<string,string>' -%}
        map_keys({{ value }}) = array({{ text }})
    {%- endif -%}
{%- endmacro %}
