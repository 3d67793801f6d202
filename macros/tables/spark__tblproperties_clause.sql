{#-
    dbt-spark's clause. A table that follows changes also marks rows instead of writing their
    files again, unless the model says otherwise; a table whose rows change, and of which readers
    read only what is new, keeps a change data feed (`own_feed`).
-#}
{% macro spark__tblproperties_clause() -%}
    {%- set wanted = {} -%}
    {%- if config.get('materialized') == 'apply_changes' -%}
        {%- do wanted.update({'delta.enableDeletionVectors': 'true'}) -%}
    {%- endif -%}
    {%- do wanted.update(config.get('tblproperties') or {}) -%}
    {%- if needs_feed() -%}
        {%- do wanted.update({
            'delta.enableChangeDataFeed': 'true', 'headwater.feed': invocation_id
        }) -%}
    {%- endif -%}
    {%- set pairs = [] -%}
    {%- for name, value in wanted.items() -%}
        {%- do pairs.append("'" ~ name ~ "' = '" ~ value ~ "'") -%}
    {%- endfor -%}
    {%- if pairs %} tblproperties ({{ pairs | join(', ') }}) {%- endif -%}
{%- endmacro %}
