{#-
    Set the clustering of an existing table to the one that its model now configures; new files
    follow it.
-#}
{% macro alter_clustering(relation) -%}
    {%- set liquid = config.get('liquid_clustered_by') or [] -%}
    {%- set wanted = [liquid] if liquid is string else liquid -%}
    {%- if wanted -%}
        {%- do run_query('alter table ' ~ relation ~ ' cluster by (' ~ wanted | join(', ') ~ ')') -%}
    {%- endif -%}
{%- endmacro %}
