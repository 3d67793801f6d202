{#-
    Record change data feeds that an up-to-date model has not recorded yet: its own, and those it
    reads. Otherwise record nothing.
-#}
{% macro remember_reading(read, code, feed) -%}
    {%- set marks = build_memory().marks.get(this | string, {}) -%}
    {%- for name in read.keys() | list + ([feed] if feed else []) if name not in marks -%}
        {%- do remember_build(read, code, feed) -%}
        {{- return('') -}}
    {%- endfor -%}
{%- endmacro %}
