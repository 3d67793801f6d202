{#-
    Statements that adapt the table and its state table to the input: add columns, widen types.
    Empty if both already fit.
-#}
{% macro evolve_columns(plan) -%}
    {%- set tables = {plan.target: plan.columns} -%}
    {%- if plan.has_state -%}
        {%- do tables.update({plan.state_table: plan.state_columns}) -%}
    {%- endif -%}
    {%- for table, columns in tables.items() if plan.target_columns -%}
        {%- set added = [] -%}
        {%- set widened = [] -%}
        {%- for name, type in columns.items() -%}
            {%- if name not in plan.target_columns -%}
                {%- do added.append('`' ~ name ~ '` ' ~ type) -%}
            {%- elif plan.target_columns[name] != type -%}
                {%- do widened.append({'name': name, 'type': type}) -%}
            {%- endif -%}
        {%- endfor -%}
        {%- if added %}
    alter table {{ table }} add columns ({{ added | join(', ') }})
    {{ next_statement() }}
        {%- endif -%}
        {%- if widened %}
    alter table {{ table }} set tblproperties ('delta.enableTypeWidening' = 'true')
    {{ next_statement() }}
        {%- endif -%}
        {%- for column in widened %}
    alter table {{ table }} alter column `{{ column.name }}` type {{ column.type }}
    {{ next_statement() }}
        {%- endfor -%}
    {%- endfor -%}
{%- endmacro %}
