{#-
    Query: the values of column `key` whose rows a merge has to compute again, because one of its
    inputs has changed.

    relations  input that has the key, or a list of them
    kwargs     inputs that the first of them looks up, by its column with their key:
               `customer_id=ref('customers_history')`, or a list

    Rows that are late, moved or removed count, however old they are.
-#}
{% macro affected_keys(key, relations) -%}
    {{ changed_keys_of(relations, key) }}
    {%- for column, looked_up in kwargs.items() %}

    union

    select {{ key }}
    from {{ relation_list(relations)[0] }}
    left semi join (
        {{ changed_keys_of(looked_up, column) }}
    ) using ({{ column }})
    {%- endfor -%}
{%- endmacro %}
