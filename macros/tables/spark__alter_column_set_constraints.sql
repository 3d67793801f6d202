{#-
    Add a contract's `not_null` and `check` of columns as CHECK constraints, which open-source Delta
    accepts on an existing table.

    dbt-spark writes `set not null`, which Delta rejects on a nullable column; on Databricks both
    work. It warns of a column's `check` instead of enforcing it.
-#}
{% macro spark__alter_column_set_constraints(relation, column_dict) -%}
    {%- for name, column in column_dict.items() -%}
        {%- set quoted = adapter.quote(name) if column.quote else name -%}
        {%- for constraint in column.constraints -%}
            {%- if constraint.type in ('not_null', 'check') -%}
                {%- set is_null = constraint.type == 'not_null' -%}
                {%- set kind = 'is_not_null' if is_null else 'check_' ~ loop.index -%}
                {%- call statement() -%}
                    alter table {{ relation }}
                    add constraint {{ constraint.name or modules.re.sub('\\W', '_', name) ~ '_' ~ kind }}
                    check ({{ quoted ~ ' is not null' if is_null else constraint.expression }})
                {%- endcall -%}
            {%- elif constraint.warn_unenforced -%}
                {%- do exceptions.warn(
                    this ~ ': column ' ~ name ~ ': ' ~ constraint.type ~ ' is not enforced; test it, and '
                    ~ 'set warn_unenforced: false'
                ) -%}
            {%- endif -%}
        {%- endfor -%}
    {%- endfor -%}
{%- endmacro %}
