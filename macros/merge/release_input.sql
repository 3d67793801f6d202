{#-
    Drop the cached input of a merge. If a merge fails, the next one replaces its cached input.
-#}
{% macro release_input() -%}
    {%- if kept_input() -%}
        {%- do run_query('drop view if exists ' ~ kept_input()) -%}
    {%- endif -%}
{%- endmacro %}
