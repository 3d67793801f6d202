{#-
    Query: the values of column `key` in rows of `relation` that this model has not merged yet, and
    in rows that were updated or deleted since. They name the model's rows to rebuild.

    A row of the model whose key is among them and which the model does not return again is deleted
    (`removed_rows`). `own_key` is the model's column with these values, if it has another name.
-#}
{% macro changed_keys(relation, key, own_key=none) -%}
    {%- do check_arguments('changed_keys()', {'relation': relation, 'key': key, 'own_key': own_key}, kwargs, varargs) -%}
    {%- set own = own_key or key -%}
    {{ replaces(
        'old.' ~ own ~ ' = changed.' ~ key, changes_of(relation, key, 'keys ' ~ key ~ ' of ' ~ own)
    ) }}
{%- endmacro %}
