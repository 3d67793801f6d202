{#-
    Record change data feeds that an up-to-date model has not recorded yet: its own, and those it
    reads. Otherwise record nothing.
-#}
{% macro cache_new_feeds(read, code, feed) -%}
    {%- set watermarks = invocation_cache().watermarks.get(this | string, {}) -%}
    {%- for name in read.keys() | list + ([feed] if feed else []) if name not in watermarks -%}
        {%- do cache_build(read, code, feed) -%}
        {{- return('') -}}
    {%- endfor -%}
{%- endmacro %}
