{#-
    dbt-spark's clause. A table that follows changes also marks rows instead of writing their
    files again, unless the model says otherwise.
-#}
{% macro spark__tblproperties_clause() -%}
    {%- if config.get('materialized') != 'apply_changes' -%}
        {{ dbt.spark__tblproperties_clause() }}
    {%- else -%}
        {%- set wanted = {'delta.enableDeletionVectors': 'true'} -%}
        {%- do wanted.update(config.get('tblproperties') or {}) -%}
        {%- set pairs = [] -%}
        {%- for name, value in wanted.items() -%}
            {%- do pairs.append("'" ~ name ~ "' = '" ~ value ~ "'") -%}
        {%- endfor -%}
        tblproperties ({{ pairs | join(', ') }})
    {%- endif -%}
{%- endmacro %}
