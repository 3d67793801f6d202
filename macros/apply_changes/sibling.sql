{#-
    A table beside the model's: `__memory` or `__quarantine`; none while it is not there.
-#}
{% macro sibling(suffix, is_there=true) -%}
    {%- set name = this.identifier ~ '__' ~ suffix -%}
    {%- if is_there -%}
        {{- return(adapter.get_relation(none, this.schema, name)) -}}
    {%- endif -%}
    {{- return(api.Relation.create(schema=this.schema, identifier=name)) -}}
{%- endmacro %}
