{#-
    Old name of `sync_catalog`; removed with the next version.
-#}
{% macro register_lake() -%}
    {%- do sync_catalog() -%}
{%- endmacro %}
