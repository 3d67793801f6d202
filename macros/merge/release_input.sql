{#-
    Keep the input of a merge no longer than the merge takes; see `merge_bounds`.
-#}
{% macro release_input() -%}
    {%- if config.get('merge_bounds') -%}
        {%- do run_query('uncache table if exists ' ~ this.identifier ~ '__dbt_tmp') -%}
    {%- endif -%}
{%- endmacro %}
