{#-
    Give an existing table the clustering that its model now asks for; new files follow it.
-#}
{% macro alter_clustering(relation) -%}
    {%- set liquid = config.get('liquid_clustered_by') or [] -%}
    {%- set wanted = [liquid] if liquid is string else liquid -%}
    {%- if wanted -%}
        {%- do run_query('alter table ' ~ relation ~ ' cluster by (' ~ wanted | join(', ') ~ ')') -%}
    {%- endif -%}
{%- endmacro %}
