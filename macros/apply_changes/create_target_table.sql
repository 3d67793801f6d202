{#-
    Create the model's table, or replace it, from all changes.
-#}
{% macro create_target_table(plan) -%}
    {%- set existing = load_cached_relation(this) -%}
    {%- if existing and not existing.is_delta -%}
        {%- do adapter.drop_relation(existing) -%}
    {%- endif -%}
    {%- do run_query(create_table_as(false, this, first_rows(plan))) -%}
    {%- do adapter.cache_added(this.incorporate(type='table')) -%}
{%- endmacro %}
