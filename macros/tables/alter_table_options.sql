{#-
    Set the clustering and the properties of an existing table to those that its model now
    configures; new files follow the clustering. A property that the model no longer has stays.
-#}
{% macro alter_table_options(relation) -%}
    {%- set liquid = model_option('liquid_clustered_by') or [] -%}
    {%- set columns = [liquid] if liquid is string else liquid -%}
    {%- if columns -%}
        {#- dbt-spark gives a list as text. -#}
        {%- set text = run_query('describe detail ' ~ relation).rows[0]['clusteringColumns'] | string -%}
        {%- if modules.re.findall('[^\\s\\[\\]\'",]+', text) != columns -%}
            {%- do run_query('alter table ' ~ relation ~ ' cluster by (' ~ columns | join(', ') ~ ')') -%}
        {%- endif -%}
    {%- endif -%}
    {%- set changed = configured_properties() -%}
    {%- if changed -%}
        {%- for row in run_query('show tblproperties ' ~ relation).rows
            if changed.get(row['key']) == row['value'] -%}
            {%- do changed.pop(row['key']) -%}
        {%- endfor -%}
    {%- endif -%}
    {%- if changed -%}
        {%- do run_query('alter table ' ~ relation ~ ' set tblproperties (' ~ properties_sql(changed) ~ ')') -%}
    {%- endif -%}
{%- endmacro %}
