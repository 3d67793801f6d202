{#-
    Return the watermark of `reader` in `relation`: the newest batch that it has merged, as
    recorded; -1 for none.
-#}
{% macro mark_of(reader, relation) -%}
    {{- return(build_memory().marks.get(reader | string, {}).get(relation | string, -1)) -}}
{%- endmacro %}
