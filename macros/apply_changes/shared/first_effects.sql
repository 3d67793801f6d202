{#-
    Query: the effects of the rows of an SCD 1 table that this build creates: each row that is not
    deleted is inserted.
-#}
{% macro first_effects(rows) -%}
    select
        if(not __deleted, 'upsert', 'none') as __effect,
        __tied,
        false as __is_there,
        false as __is_level
    from ({{ rows }})
{%- endmacro %}
