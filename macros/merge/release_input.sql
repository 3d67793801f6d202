{#-
    Let go of what was kept for a merge; what a failed one leaves, the next one takes the place of.
-#}
{% macro release_input() -%}
    {%- if kept_input() -%}
        {%- do run_query('drop view if exists ' ~ kept_input()) -%}
    {%- endif -%}
{%- endmacro %}
