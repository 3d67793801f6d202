{#-
    Drop the cached input of a merge. If a merge fails, the next one replaces its cached input.
-#}
{% macro drop_cached_input() -%}
    {%- if cached_input() -%}
        {%- do run_query('drop view if exists ' ~ cached_input()) -%}
    {%- endif -%}
{%- endmacro %}
