{#-
    Return the watermark of `reader` in `relation`: the newest batch that it has merged, as
    recorded; -1 for none.
-#}
{% macro watermark_of(reader, relation) -%}
    {{- return(invocation_cache().watermarks.get(reader | string, {}).get(relation | string, -1)) -}}
{%- endmacro %}
