{#-
    Return a companion table of the model's table: `__memory` (the state table) or
    `__quarantine`. With `is_there`,
    none if the table does not exist.
-#}
{% macro companion_table(suffix, is_there=true) -%}
    {%- set name = this.identifier ~ '__' ~ suffix -%}
    {%- if is_there -%}
        {{- return(adapter.get_relation(none, this.schema, name)) -}}
    {%- endif -%}
    {{- return(api.Relation.create(schema=this.schema, identifier=name)) -}}
{%- endmacro %}
