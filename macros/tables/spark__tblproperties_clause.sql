{#-
    dbt-spark's clause with Headwater's defaults. A table has its layer as the property `quality`,
    and one of `apply_changes` uses deletion vectors instead of rewriting files, unless the model
    configures otherwise; a table whose rows change and that has incremental readers keeps a change
    data feed (`own_feed`).
-#}
{% macro spark__tblproperties_clause() -%}
    {%- set layer = layer_of(this.schema) -%}
    {%- set wanted = {'quality': layer} if layer else {} -%}
    {%- if config.get('materialized') == 'apply_changes' -%}
        {%- do wanted.update({'delta.enableDeletionVectors': 'true'}) -%}
    {%- endif -%}
    {%- do wanted.update(configured_properties()) -%}
    {%- if needs_feed() -%}
        {%- do wanted.update({
            'delta.enableChangeDataFeed': 'true', 'headwater.feed': invocation_id
        }) -%}
    {%- endif -%}
    {%- if wanted %} tblproperties ({{ properties_sql(wanted) }}) {%- endif -%}
{%- endmacro %}
