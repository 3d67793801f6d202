{#-
    Whether a value is what stands for "not sent".

    Debezium writes that into every type that PostgreSQL stores out of line: its text,
    its bytes, an array of it, or an array of the numbers of its letters, which are days in an
    array of dates. A hstore is JSON of it.
-#}
{% macro is_unavailable(plan, value, type) -%}
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
