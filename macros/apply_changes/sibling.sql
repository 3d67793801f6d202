{#-
    Return a companion table of the model's table: `__memory` or `__quarantine`. With `is_there`,
    none if the table does not exist.
-#}
{% macro sibling(suffix, is_there=true) -%}
    {%- set name = this.identifier ~ '__' ~ suffix -%}
    {%- if is_there -%}
        {{- return(adapter.get_relation(none, this.schema, name)) -}}
    {%- endif -%}
    {{- return(api.Relation.create(schema=this.schema, identifier=name)) -}}
{%- endmacro %}
