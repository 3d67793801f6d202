{#-
    Add a contract's `not_null` as a CHECK, which open-source Delta accepts on an existing table.

    dbt-spark writes `set not null`, which Delta rejects on a nullable column; on Databricks both
    work.
-#}
{% macro spark__alter_column_set_constraints(relation, column_dict) -%}
    {%- for name, column in column_dict.items() -%}
        {%- set quoted = adapter.quote(name) if column.quote else name -%}
        {%- for constraint in column.constraints -%}
            {%- if constraint.type != 'not_null' -%}
                {%- do exceptions.warn(
                    'Invalid constraint for column ' ~ name ~ '. Only `not_null` is supported.'
                ) -%}
            {%- else -%}
                {%- call statement() -%}
                    alter table {{ relation }}
                    add constraint {{ modules.re.sub('\\W', '_', name) }}_is_not_null
                    check ({{ quoted }} is not null)
                {%- endcall -%}
            {%- endif -%}
        {%- endfor -%}
    {%- endfor -%}
{%- endmacro %}
